# JAGS and svmp say the same of every unknown, within Monte Carlo errors: the models of models/ that JAGS can read, and
# those of tests/peer/bugs, which are written as users of JAGS write. What JAGS has no word for (factor(), dflat()) is
# left out: car, gaussian_grid, mixture, sensors, survival; for dinvgamma and dhalfcauchy it has other words (--words).
# tests/peer/words has what svmp does in other ways than JAGS: discrete unknowns, distributions of modules, maps (in the words
# of MODEL.jags there); and models as textbooks have them. tests/peer/books has more of those, with data as R writes them.
# The quick ones of them; long/jags.sh runs all.
command -v jags >/dev/null || { echo "skipped: there is no jags here (Debian: jags)" && exit 77; }
"$SVMP" --version | grep -q '^jansson: yes' || { echo "skipped: this svmp reads no JSON" && exit 77; }
for python in ${PYTHON:-} python3 /usr/bin/python3 none; do
    [[ $python == none ]] && echo "skipped: there is no python3" && exit 77
    "$python" -c '' 2>/dev/null && break
done

# agree SECONDS-SAVING-OPTIONS MODEL...: two at a time; the tables of those that disagree are shown.
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
    agree '--warmup 400 --draws 500 --burn 500' "$words/density.bug" # JAGS tempers its mixtures, which takes time
    agree '--warmup 500 --draws 500 --burn 500 --thin 3' \
        "$MODELS"/{linear,logistic,hierarchical,schools,poisson,growth,network,votes,crowd}.bug \
        "$bugs"/{alligators,beetles,birats,blocker,dogs,magnesium,mice,pumps,ragged,rats,stacks,surgical}.bug
    agree '--warmup 500 --draws 500 --burn 1000 --thin 10' "$bugs"/{seeds,salm}.bug
fi
[[ ! $failed ]] || exit 1
