#!/bin/bash
# The paper's experiments: the quick version, with every claim that holds in the full run; resuming.
source "$TESTS/cli/support.bash"
SVMP=$SVMP_PAPER

# Under the sanitizers a trial or two suffice: they check memory, not verdicts.
if [[ -n $SANITIZE ]]; then
    for figure in fig2 fig4; do
        "$SVMP" $figure --quick --trials 1 -o out >said 2>errors || fail "$figure: $(cat errors)"
        [[ -s out/$figure.csv ]] || fail "$figure left no trials"
    done
    exit 0
fi

"$SVMP" all --quick -o out >said 2>errors || fail "a claim was lost: $(grep -v ' of ' errors)"
for figure in fig1 fig2 fig3 fig4 fig5 fig6; do
    grep -q '^trial,series,method,step,x,metric,value$' "out/$figure.csv" || fail "$figure.csv is no table of trials"
    [[ -s out/paper/${figure}_claims.csv ]] || fail "$figure has no verdicts"
done
shows '^2b +yes +graphical beats vanilla'
grep -q '| 2b |' out/paper.md || fail "the document lacks a claim"

# A second call has nothing to do and prints the same.
cp out/fig2.csv before.csv
"$SVMP" fig2 --quick -o out >said 2>errors || fail "$(cat errors)"
! grep -q ' of ' errors || fail "trials were run again: $(cat errors)"
cmp -s before.csv out/fig2.csv || fail "fig2.csv has changed"

# Figure 5, which has no claims: from the data alone graphical SVGD finds the sensors and keeps their spread.
mean_of() { awk -F, -v m="$1" '$1 == "data" && $2 == "graphical" && $4 == 20 && $5 == m { print $6 }' out/paper/fig5.csv; }
awk -v error="$(mean_of location)" -v spread="$(mean_of spread)" 'BEGIN { exit !(error < 0.06 && spread > 0.75 && spread < 1.1) }' ||
    fail "graphical SVGD of figure 5: location error $(mean_of location), share of the spread $(mean_of spread)"

# Another seed is another problem: its trials are refused in this folder, and nothing in the folder, such as the
# reference, is used for it.
refuses 2 "has trials of 'fig4 seed 1 quick; 5000" fig4 --quick --trials 1 --seed 2 -o out
rm out/trials/fig4_*
"$SVMP" fig4 --quick --trials 1 --seed 2 -o out >said 2>errors || fail "$(cat errors)"
"$SVMP" fig4 --quick --trials 1 --seed 2 -o second >said 2>errors || fail "$(cat errors)"
cmp -s out/fig4.csv second/fig4.csv || fail "a folder's old reference was used for another seed"

# Trials depend neither on the threads nor on which other trials are run.
"$SVMP" fig2 --quick --threads 1 --trials 1 -o one >said 2>errors || fail "$(cat errors)"
cmp -s <(sed 1d one/trials/fig2_001.csv) <(sed 1d out/trials/fig2_001.csv) || fail "a trial depends on the threads"
