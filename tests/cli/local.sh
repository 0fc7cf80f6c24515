# Local moves from the command line: every particle is a chain, kept draws, agreement with NUTS.
. "$TESTS/cli/support.bash"

works run chain.mtx b.mtx -m local -n 20 -t 400 --seed 2 -o a.csv --quiet
shows '^local: 20 chains of 50 draws of 3 variables, 400 iterations in .* s, completed$'
shows '^mean acceptance 0\.[56][0-9]$'
shows '^Passed: R-hat is at most 1\.0[0-9]+ and there are at least [0-9]+ effective draws; '
[[ $(rows a.csv | head -1) == lp__,accept_stat__,n_sweeps__,chain__,x.1,x.2,x.3 ]]
[[ $(rows a.csv | tail -n +2 | cut -d, -f4 | uniq -c | awk '{ print $1 }' | sort -u) == 50 ]]
for line in 'method = local' 'particles = 20' 'iterations = 400' 'warmup = 200' 'draws = 64' 'num_samples = 1000'; do
    grep -qxF "# $line" a.csv || fail "the record lacks '$line'"
done
! grep -qE '^# (kernel|bandwidth|step|chains|accept|tolerance) =' a.csv || fail "local has none of $(grep '^#' a.csv)"
works summary a.csv
shows '^20 chains of 50 draws of 3 variables$'
shows '^mean acceptance 0\.[56][0-9]$'

# The bits do not depend on threads; a run resumed from a checkpoint writes the same file.
works run chain.mtx b.mtx -m local -n 20 -t 400 --seed 2 -o b.csv --quiet --threads 3
diff <(rows a.csv) <(rows b.csv)
works run chain.mtx b.mtx -m local -n 20 -t 100 --warmup 50 --seed 2 --checkpoint some.svmp --quiet
works run chain.mtx b.mtx -m local -n 20 -t 400 --warmup 50 --seed 2 --resume some.svmp -o resumed.csv --quiet
works run chain.mtx b.mtx -m local -n 20 -t 400 --warmup 50 --seed 2 -o whole.csv --quiet
diff <(rows whole.csv) <(rows resumed.csv)
refuses 2 "has warmup = 50, but this run has warmup = 250." run chain.mtx b.mtx -m local -n 20 -t 500 --seed 2 --resume some.svmp

# Its draws start other runs, and draws of others start it; from a larger start the last of each of n equal parts is
# used.
works run chain.mtx b.mtx -m local --init a.csv -n 20 -t 0 -o again.csv --quiet
diff <(rows a.csv | awk 'NR > 1 && (NR - 1) % 50 == 0' | cut -d, -f5-) <(rows again.csv | tail -n +2 | cut -d, -f3-)
works run chain.mtx b.mtx -m local --init a.csv -t 10 --quiet
shows '^local: 100 chains of 5 draws'
works run chain.mtx b.mtx --init a.csv -t 1 --quiet
works run chain.mtx b.mtx -m nuts --init a.csv --warmup 10 --draws 10 --quiet

works run chain.mtx b.mtx -m local -n 3 -t 20 --quiet -o parts.csv --split --thin 5
[[ $(rows parts_3.csv | wc -l) -eq 3 && ! -e parts_4.csv ]]
works summary parts_1.csv parts_2.csv parts_3.csv
if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    works run chain.mtx b.mtx -m local -n 20 -t 400 --seed 2 -o a.nc --quiet
    works summary a.nc
    shows '^20 chains of 50 draws of 3 variables$'
fi

refuses 2 "The method 'local' does not take --chains; use -n, -t, --warmup and --draws." run chain.mtx -m local --chains 2
refuses 2 "The method 'local' does not take --accept; use -n, -t, --warmup and --draws." run chain.mtx -m local --accept 0.9
refuses 2 "The method 'local' does not take a step; " run chain.mtx -m local --step fixed:1
refuses 2 "The method 'local' does not take a kernel." run chain.mtx -m local --kernel rbf@self
refuses 2 "The method 'local' would discard all of its 10 sweeps, because its warm-up takes 10. Use a smaller --warmup, or use a larger -t." run chain.mtx -m local -t 10 --warmup 10
refuses 2 "Cannot plan the method 'local'" plan chain.mtx -m local

# All nodes are neighbours of each other: a warning gives the cost.
{ printf '%%%%MatrixMarket matrix coordinate real symmetric\n101 101 5151\n'
    for i in {1..101}; do for ((j = 1; j <= i; j++)); do echo $i $j $((i == j ? 200 : 1)); done; done; } >clique.mtx
"$SVMP" run clique.mtx -m local -n 3 -t 4 --quiet >said 2>errors || fail "$(cat errors)"
dense='^svmp: warning: The graph is dense: all nodes are neighbours of each other, and a sweep takes'
grep -q "$dense 101 rounds, one after another, and about as many operations as 1 scores" errors || fail "$(cat errors)"

# In the language, the factor of a clique is evaluated for every node: twice for each of 60, with one derivative of 60.
printf 'model { for (i in 1:60) { x[i] ~ dnorm(0, 1) }\n y ~ dpois(exp(mean(x[])))\n}\n' >clique.bug
echo 'y <- 3' >clique.R
"$SVMP" run clique.bug clique.R -m local -n 3 -t 4 --quiet --verify no >said 2>errors || fail "$(cat errors)"
grep -qE "$dense 60 rounds, one after another, and about as many operations as [1-5][0-9](\.[0-9])? scores" errors || fail "$(cat errors)"

# A function with a bounded domain: moves out of it are rejected, and a start outside is drawn again.
printf 'model {\n  p ~ dnorm(0.5, 1)\n  for (i in 1:5) { y[i] ~ dbern(p) }\n}\n' >domain.bug
echo 'y <- c(1, 0, 1, 1, 0)' >domain.R
works run domain.bug domain.R -m local -q -o domain.csv
rows domain.csv | tail -n +2 | awk -F, '$5 <= 0 || $5 >= 1 { exit 1 }' || fail "a particle left the domain"

# NUTS agrees on the models on which it passes: some of them here, all of models/ in long/local.sh.
agrees() {
    works run "$@" -m nuts -q -o nuts.csv --force
    grep -q '^Passed' said || { echo "NUTS does not pass: $*" && return; }
    works run "$@" -m local --init gaussian -q -o local.csv --force
    works compare local.csv nuts.csv
    shows '^They agree: '
    compared=$((compared + 1))
}
compared=0
models=(logistic schools_centred survival)
[[ -z ${ALL:-} ]] || models=($(cd "$MODELS" && printf '%s\n' *.bug | sed 's/\.bug$//'))
for name in "${models[@]}"; do
    data=$(ls "$MODELS/${name%_*}".{csv,json,R} "$MODELS/$name".{csv,json,R} 2>/dev/null | sort -u || :)
    [[ $data != *.json* ]] || "$SVMP" --version | grep -qx 'jansson: yes' || continue
    agrees "$MODELS/$name.bug" $data
done
# NUTS passes on all but `car` and `rss`, whose chains mix slowly, and perhaps one more with a divergence.
[[ $compared -ge $((${#models[@]} - (${#models[@]} > 3 ? 3 : 0))) ]] || fail "only $compared of ${#models[@]} models were compared"
