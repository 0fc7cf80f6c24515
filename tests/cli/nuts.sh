# NUTS and MALA from the command line: chains written and read, statistics, refusals.
. "$TESTS/cli/support.bash"

works run chain.mtx b.mtx -m nuts --chains 3 --warmup 200 --draws 400 --seed 2 -o a.csv --quiet
shows '^nuts: 3 chains of 400 draws of 3 variables, 600 iterations in .* s, completed$'
shows '^mean acceptance 0\.[789][0-9], [0-9.]+ leapfrog steps per draw, lowest E-BFMI [01]\.[0-9]+, 0 divergent$'
header=lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,chain__,x.1,x.2,x.3
[[ $(rows a.csv | head -1) == "$header" ]]
[[ $(rows a.csv | tail -n +2 | cut -d, -f8 | uniq -c | tr -s ' ' | tr '\n' ';') == ' 400 1; 400 2; 400 3;' ]]
for line in 'method = nuts' 'chains = 3' 'warmup = 200' 'draws = 400' 'num_samples = 1200' 'num_warmup = 200' 'iterations done = 600'; do
    grep -qxF "# $line" a.csv || fail "the record lacks '$line'"
done
! grep -qE '^# (kernel|bandwidth|step|particles|iterations|tolerance) =' a.csv || fail "nuts has none of $(grep '^#' a.csv)"
works summary a.csv
shows '^3 chains of 400 draws of 3 variables$'
shows '^mean acceptance'

# The bits do not depend on threads, and a chain does not depend on the other chains.
works run chain.mtx b.mtx -m nuts --chains 3 --warmup 200 --draws 400 --seed 2 -o b.csv --quiet --threads 3
diff <(rows a.csv) <(rows b.csv)
works run chain.mtx b.mtx -m nuts --chains 1 --warmup 200 --draws 400 --seed 2 -o c.csv --quiet
[[ $(rows c.csv | head -1) == "${header/chain__,/}" ]]
diff <(rows a.csv | sed -n 2,401p | cut -d, -f9-) <(rows c.csv | tail -n +2 | cut -d, -f8-)

# Draws start particles, and particles start chains.
works run -m graphical chain.mtx b.mtx --init a.csv -t 1 -o particles.csv
[[ $(rows particles.csv | wc -l) -eq 1201 ]]
works run chain.mtx b.mtx -m nuts --init particles.csv --warmup 10 --draws 10

refuses 2 "The method 'nuts' does not take --particles; use --chains, --warmup and --draws." run chain.mtx -m nuts -n 10
refuses 2 "The method 'nuts' does not take --iterations" run chain.mtx -m nuts -t 10
refuses 2 "The method 'graphical' does not take --draws, which is for samplers." run chain.mtx -m graphical --draws 10
refuses 2 "The method 'nuts' does not take a step" run chain.mtx -m nuts --step fixed:0.1
refuses 2 "The option 'draws' must be a whole number from 1 to 1000000000, not '0'." run chain.mtx -m nuts --draws 0

# An interrupted run writes the draws so far; in the warm-up there are none.
set -m
interrupt() {
    "$SVMP" run chain.mtx b.mtx -m nuts "$@" >said 2>errors &
    listening $!
    sleep 0.2
    kill -TERM $!
    status=0
    wait $! || status=$?
    [[ $status -eq 130 ]] || fail "exit $status: $(cat errors)"
}
interrupt --warmup 10 --draws 10000000 -o stopped.csv
grep -qE "^svmp: Interrupted after [0-9]+ of 10000010 iter" errors || fail "$(cat errors)"
grep -qxF '# outcome = stopped' stopped.csv
works summary stopped.csv
interrupt --warmup 100000000 --draws 10 -o none.csv --checkpoint none.ckp
grep -qE "^svmp: Interrupted after [0-9]+ of 100000000 warm-up iterations: there are no draws yet\.$" errors || fail "$(cat errors)"
grep -q -- '--resume none.ckp' errors || fail "$(cat errors)"
[[ ! -e none.csv && ! -s said ]]

works run chain.mtx b.mtx -m mala -n 50 -t 20 --step decay:0.5,1,0.6 -o mala.csv
shows '^mean acceptance 0\.[0-9]+$'
[[ $(rows mala.csv | head -1) == lp__,accept_stat__,x.1,x.2,x.3 ]]
works run chain.mtx b.mtx -m mala -n 50 -t 20 --step fixed:100
shows '^This is low; MALA works best near 0\.57\. Try a smaller step \(--step fixed:10\)\.$'
works run chain.mtx b.mtx -m mala -n 50 -t 20 --step fixed:0.0001 -o small.csv
shows '^This is high; MALA works best near 0\.57\. Try a larger step \(--step fixed:0\.0003\)\.$'
works summary small.csv
shows '\(--step fixed:0\.0003\)\.$'

# One draw of one chain: messages use the singular and claim nothing.
works run chain.mtx b.mtx -m nuts --chains 1 --warmup 20 --draws 1 --quiet -o single.csv
shows '^nuts: 1 chain of 1 draw of 3 variables, 21 iterations in '
works summary single.csv
shows '^R-hat and ESS are not defined for 3 of 3 variables'
works run chain.mtx b.mtx -m nuts --chains 1 --warmup 200 --draws 2000 --quiet
shows 'Several chains would be a stronger test\.$'
# The chain does not depend on how many draws are kept: the first of many is the single one.
works run chain.mtx b.mtx -m nuts --chains 2 --warmup 50 --draws 1 --quiet -o first.csv
works run chain.mtx b.mtx -m nuts --chains 2 --warmup 50 --draws 5 --quiet -o five.csv
diff <(rows first.csv) <(rows five.csv | sed -n '1p;2p;7p')

# Divergences at the edge of a function's domain are reported as such, as by the particle methods; others are not.
printf 'model {\n  p ~ dnorm(0.5, 1)\n  for (i in 1:5) { y[i] ~ dbern(p) }\n}\n' >domain.bug
echo 'y <- c(1, 0, 1, 1, 0)' >domain.R
"$SVMP" run domain.bug domain.R -m nuts --warmup 100 --draws 100 -q >said 2>errors || fail "$(cat errors)"
grep -qE '^svmp: warning: Trajectories diverged where the density is undefined: first at p = (-|1)[0-9.]+, in the statement on line 3\.$' errors ||
    fail "$(cat errors)"
shows 'trajectories diverged'
printf 'model {\n  tau ~ dgamma(100, 5)\n  y ~ dnorm(0, tau - 15)\n}\n' >scaled.bug # the reported value is natural, not a logarithm
echo 'y <- 0.1' >scaled.R
"$SVMP" run scaled.bug scaled.R -m nuts --warmup 100 --draws 400 -q --init prior >said 2>errors
grep -qE 'first at tau = 1[0-4](\.[0-9]+)?, in the statement on line 3\.$' errors || fail "$(cat errors)"
echo 'model { v ~ dnorm(0, 0.1); for (i in 1:4) { x[i] ~ dnorm(0, exp(-v)) } }' >funnel.bug
works run funnel.bug -m nuts --coordinates centred --warmup 50 --draws 200 -q
shows ' [1-9][0-9]* divergent$'

# Given enough nodes hyperparameters move with these: no trajectory diverges.
works run "$MODELS/schools_centred.bug" "$MODELS/schools.R" -m nuts --coordinates centred -q
shows ' 0 divergent$'

# They are the same for any number of threads, and after a resume.
nodes=("$MODELS/schools_centred.bug" "$MODELS/schools.R" -m nuts --coordinates centred --warmup 300 --chains 3 -q)
works run "${nodes[@]}" --draws 60 --threads 1 -o straight.csv
works run "${nodes[@]}" --draws 60 --threads 3 -o threads.csv
diff <(rows straight.csv) <(rows threads.csv)
works run "${nodes[@]}" --draws 20 --checkpoint nodes.ckp
works run "${nodes[@]}" --draws 60 --resume nodes.ckp -o resumed.csv
diff <(rows straight.csv) <(rows resumed.csv)

# A larger target acceptance gives a smaller step; the file records it, and a checkpoint of another target is refused.
works run chain.mtx b.mtx -m nuts --warmup 300 --draws 300 -q -o plain.csv
works run chain.mtx b.mtx -m nuts --warmup 300 --draws 300 -q --accept 0.98 -o careful.csv --checkpoint careful.ckp
grep -qx '# accept = 0.8' plain.csv && grep -qx '# accept = 0.98' careful.csv || fail "the record lacks the target"
leapfrog_steps() { "$SVMP" summary "$1" | sed -nE 's/.* ([0-9.]+) leapfrog steps per draw.*/\1/p'; }
awk -v a="$(leapfrog_steps careful.csv)" -v b="$(leapfrog_steps plain.csv)" 'BEGIN { exit !(a > 1.2 * b) }' || fail "the steps are not smaller"
refuses 2 "has accept = 0.98, but this run has accept = 0.8" \
    run chain.mtx b.mtx -m nuts --warmup 300 --draws 300 -q --resume careful.ckp
refuses 2 "The option 'accept' must be a number from 0.001 to 0.999, not '1'." run chain.mtx -m nuts --accept 1
refuses 2 "The method 'transport' does not take --accept, which is for samplers of whole chains." run chain.mtx --accept 0.9

# Typing errors.
refuses 2 "Unknown method 'NUTS'; did you mean 'nuts'?" run chain.mtx -m NUTS
refuses 2 "'norml:1' is neither a start nor a file; did you mean 'normal:1'?" run chain.mtx --init norml:1
