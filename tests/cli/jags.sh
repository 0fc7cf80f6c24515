# JAGS and svmp agree on every unknown within Monte Carlo errors: for the models of models/ that JAGS can read, and
# those of tests/peer/bugs, which are written in the style of JAGS users. Models with factor() or dflat(), which JAGS
# lacks, are left out: car, gaussian_grid, mixture, sensors, survival; dinvgamma and dhalfcauchy are translated
# (--words). tests/peer/words has features that svmp implements differently: discrete unknowns, distributions of
# modules, maps (MODEL.jags is the translation for JAGS), and textbook models. tests/peer/books has more of those, with
# data as R writes them. This script runs the quick ones; long/jags.sh runs all.
command -v jags >/dev/null || { echo "skipped: there is no jags here (Debian: jags)" && exit 77; }
"$SVMP" --version | grep -q '^jansson: yes' || { echo "skipped: this svmp reads no JSON" && exit 77; }
for python in ${PYTHON:-} python3 /usr/bin/python3 none; do
    [[ $python == none ]] && echo "skipped: there is no python3" && exit 77
    "$python" -c '' 2>/dev/null && break
done

# agree OPTIONS MODEL...: two models at a time; prints the tables of those that disagree. OPTIONS shorten the runs.
agree() {
    local options=$1 model base
    shift
    for model in "$@"; do
        base=${model%.bug}
        base=${base%_centred}
        printf '%s\0' "$options $model $(ls "$base".json "$base".csv "$base".R 2>/dev/null | xargs)"
    done | xargs -0 -P 2 -I{} bash -c "'$python' '$TESTS/peer/jags.py' '$SVMP' {} --words" || failed=1
}
failed=
bugs=$TESTS/peer/bugs
words=$TESTS/peer/words
books=$TESTS/peer/books
if [[ ! ${ALL:-} ]]; then
    agree '--warmup 300 --draws 300 --burn 300 --thin 3' "$MODELS"/{linear,logistic,schools}.bug "$bugs"/{beetles,ragged,surgical}.bug
    agree '--warmup 300 --draws 300 --init prior' "$bugs/functions.bug"
    agree '--warmup 300 --draws 300 --burn 500 --thin 5' \
        "$words"/{clinic,covariance,guessing,map,occupancy,plots,rounded,scale,shares,totals,zeros}.bug \
        "$books"/{coin,exam,hearts,pigs,planes}.bug
else
    agree '--warmup 300 --draws 500 --init prior' "$bugs/functions.bug"
    agree '--warmup 400 --draws 500 --burn 1000 --thin 8' "$books"/*.bug $(ls "$words"/*.bug | grep -v density.bug)
    agree '--warmup 400 --draws 500 --burn 500' "$words/density.bug" # JAGS tempers mixtures, which is slow
    agree '--warmup 500 --draws 500 --burn 500 --thin 3' \
        "$MODELS"/{linear,logistic,hierarchical,schools,poisson,growth,network,votes,crowd}.bug \
        "$bugs"/{alligators,beetles,birats,blocker,dogs,magnesium,mice,pumps,ragged,rats,stacks,surgical}.bug
    agree '--warmup 500 --draws 500 --burn 1000 --thin 10' "$bugs"/{seeds,salm}.bug
fi
[[ ! $failed ]] || exit 1
