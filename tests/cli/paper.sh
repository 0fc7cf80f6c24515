# The program for the paper's experiments: help, a few trials, resuming, threads. long/paper.sh tests the claims.
source "$TESTS/cli/support.bash"
SVMP=$SVMP_PAPER

works --version
shows '^svmp-paper [0-9]+\.[0-9]+\.[0-9]+$'
works --help
shows '^Usage: svmp-paper '
awk 'length > 80 { exit 1 }' said || fail "the help is wider than 80: $(cat said)"
refuses 2 "Missing argument. Usage: svmp-paper FIGURE|all|real|page."
refuses 2 "Unexpected argument 'fig2'. Usage: svmp-paper FIGURE|all|real|page." fig1 fig2
refuses 2 "Unknown option '--quik'; did you mean '--quick'?" fig1 --quik
refuses 2 "Unknown option '--zzz'; see 'svmp-paper --help'." fig1 --zzz

for figure in fig1 fig2; do
    "$SVMP" $figure --quick --trials 1 -o out >said 2>errors || fail "$figure: $(cat errors)"
    grep -q '^trial,series,method,step,x,metric,value$' "out/$figure.csv" || fail "$figure.csv is no table of trials"
    [[ -s out/paper/${figure}_claims.csv ]] || fail "$figure has no verdicts"
done
shows '^2b +undecided +graphical beats vanilla' # one trial gives no verdict
grep -q '| 2b |' out/paper.md || fail "the document lacks a claim"


# The default method adds one line with its own verdicts; run alone, it is added to the existing results of the others.
grep -q '^default 2b,' out/paper/fig2_default.csv || fail "no verdict on the default method"
grep -q '| default 2b |' out/paper.md || fail "the document lacks the default method"
mkdir alone
cp -r out/paper alone
"$SVMP" fig1 --default --quick --trials 1 -o alone >said 2>errors || fail "--default: $(cat errors)"
cmp -s out/paper/fig1.csv alone/paper/fig1.csv || fail "--default has changed the others, or is not the same"
[[ $(ls alone/trials) == fig1_001_transport.csv ]] || fail "--default has run others: $(ls alone/trials)"

# A second call has nothing to do and prints the same.
cp out/fig2.csv before.csv
"$SVMP" fig2 --quick --trials 1 -o out >said 2>errors || fail "$(cat errors)"
! grep -q ' of ' errors || fail "trials were run again: $(cat errors)"
cmp -s before.csv out/fig2.csv || fail "fig2.csv has changed"

# Trials depend neither on the threads nor on which other trials are run.
"$SVMP" fig1 --quick --threads 2 --trials 3 -o three >said 2>errors || fail "$(cat errors)"
cmp -s <(sed 1d out/trials/fig1_001.csv) <(sed 1d three/trials/fig1_001.csv) || fail "a trial depends on the threads"
