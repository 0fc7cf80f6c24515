#!/bin/bash
# Users' own runs of the paper's experiments: tables, folders in use, interruption, damage, the page.
source "$TESTS/cli/support.bash"
SVMP=$SVMP_PAPER

refuses 2 "Unknown figure 'fig7'" fig7
refuses 2 "use --data DIR to say where they are" real
refuses 2 "The folder 'nowhere' has none of the data sets: dwm1001_uwb_network" real --data nowhere
refuses 2 "has none of the data sets" all --quick --data nowhere
refuses 2 "'--data' is for real and all, not for fig1" fig1 --quick --data .
refuses 2 "must be used together" fig6 --answers a.csv
refuses 2 "'--trials' must be a whole number" fig1 --trials x
refuses 2 "there is no folder 'nowhere/paper'" page -o nowhere

# ---- a crowd's own tables ------------------------------------------------------------------------------------------
printf 'item,value\n' >truth.csv
printf 'item,worker,value\n' >answers.csv
for item in $(seq 6); do
    echo "\"q,$item\",$((item % 7))" >>truth.csv
    for worker in 1 2 3 4; do echo "\"q,$item\",w$worker,$((item % 7)).$((item * worker % 10))" >>answers.csv; done
done
crowd() { "$SVMP" fig6 --quick --trials 1 --answers answers.csv --truth truth.csv "$@" >said 2>errors; }
# turns_down SENTENCE TRUTH ANSWERS: tables of these rows, \n between them.
turns_down() {
    printf "item,value\n$2\n" >t.csv
    printf "item,worker,value\n$3\n" >a.csv
    refuses 2 "$1" fig6 --quick --trials 1 --answers a.csv --truth t.csv -o small
}
refuses 2 "'--answers' is for fig6 and all, not for fig2" fig2 --answers answers.csv --truth truth.csv
turns_down "too small: at least two unknown items" 'a,1' 'a,v,1\na,w,2\na,x,3'
turns_down "too small: no worker has at least 3 answers" 'a,1\nb,2\nc,3' 'a,v,1\nb,v,2\nc,w,3'
turns_down "t.csv:4: the truth of item 'a' is already given on line 2" 'a,1\nb,2\na,3' 'a,v,1'
turns_down "t.csv:3: 'inf' in column 'value' is not a number" 'a,1\nb,inf' 'a,v,1'
turns_down "a.csv:3: 'nan' in column 'value' is not a number" 'a,1\nb,2' 'a,v,1\nb,v,nan'
turns_down "a.csv:4: this worker already answered this item on line 2" 'a,1\nb,2\nc,3' 'a,v,1\nb,v,2\na,v,3'
turns_down "a.csv:3: the item 'q' has no truth" 'a,1\nb,2' 'a,v,1\nq,v,2'
turns_down "have mean 101.7 and standard deviation 24.5," 'a,100\nb,70\nc,130' 'a,v,101\nb,v,72\nc,v,132'
turns_down "Centre and scale" 'a,1\nb,1.1\nc,1.2' 'a,v,1\nb,v,1.1\nc,v,1.2'

# The smallest possible crowd: one worker, whose bias and noise have no index.
printf 'item,value\na,0\nb,1\nc,3\n' >t.csv
printf 'item,worker,value\na,w,0\nb,w,1\nc,w,3\n' >a.csv
"$SVMP" fig6 --quick --trials 1 --answers a.csv --truth t.csv -o small >said 2>errors || fail "$(cat errors)"
grep -q ',truth,' small/fig6.csv || fail "a small crowd was not measured"

crowd -o "new/it's nested/crowd" || fail "$(cat errors)"
folder="new/it's nested/crowd"
shows '; 1 trial\)'
grep -q ',truth,' "$folder/fig6.csv" || fail "the crowd's tables were not used"
if command -v gnuplot >/dev/null; then
    [[ -s $folder/paper/fig6a.svg ]] || fail "no picture in a folder with an apostrophe"
fi

# The page describes its own run only, and missing results leave no gaps in tables.
page="$folder/paper.md"
grep -q 'This page shows your own run.*`svmp-paper fig6`: seed 1, the quick version.*`answers.csv` and `truth.csv`' "$page" || fail "the page does not say of what it is"
grep -q '^Trials: 1; of the default method, transport: 1. `fig6 seed 1 quick; 3000 score evaluations a particle; data ' "$page" || fail "the page has no key"
grep -q '^The step sizes are those of the full run' "$page" || fail "the page does not say whence the steps"
grep -q '^Not run: fig1, fig2, fig3, fig4, fig5\.$' "$page" || fail "the page does not say what is missing"
! grep -qE 'Where we differ|page -o docs|ultra-wideband radios|^@|Figure 1' "$page" || fail "findings of others: $(grep -E 'Where we|page -o|^@' "$page")"
works page -o "$folder"
grep -q 'Where we differ' "$page" || fail "the record lacks its findings"
sed -i '/,log10 mmd,/d' "$folder/paper/fig6.csv"
works page -o "$folder"
grep -qF '*(fig6.csv has no log10 mmd)*' "$page" || fail "a metric that is not there"
! grep -q '^| method |$' "$page" || fail "an empty table"

# ---- a folder that is in use ---------------------------------------------------------------------------------------
cp "$folder/trials/fig6_001.csv" before.csv
! crowd --seed 2 -o "$folder" || fail "another seed's trials were overwritten"
grep -q "has trials of 'fig6 seed 1 quick;.*data.*', but 'fig6 seed 2 quick;.*' was requested; use another folder" errors || fail "$(cat errors)"
refuses 2 "but 'fig6 seed 1 quick; 3000 score evaluations a particle' was requested" fig6 --quick --trials 1 -o "$folder"
refuses 2 "but 'fig6 seed 1; 3000" fig6 --trials 1 -o "$folder"
cp answers.csv keep.csv
sed -i 's/^"q,1",w1,.*/"q,1",w1,9.9/' answers.csv
! crowd -o "$folder" || fail "another table's trials were overwritten"
cp keep.csv answers.csv
cmp -s before.csv "$folder/trials/fig6_001.csv" || fail "a trial has changed"

# A trial with a damaged file is run again; a complete one is not.
again() {
    crowd -o "$folder" || fail "$(cat errors)"
    cmp -s before.csv "$folder/trials/fig6_001.csv" || fail "a trial is not what it was"
}
again
! grep -q ' of ' errors || fail "a trial was run again: $(cat errors)"
for damage in '4s/,[^,]*$//' '4s/[^,]*$/many/' '4s/[^,]*$/1 /' '4s/^[^,]*//'; do
    sed -i "$damage" "$folder/trials/fig6_001.csv"
    again
    grep -q '1 of 1' errors || fail "$damage: a damaged trial was taken"
done

# ---- interruption --------------------------------------------------------------------------------------------------
"$SVMP" fig1 --threads 1 -o cut >said 2>errors &
listening $!
kill -TERM $!
status=0
wait $! || status=$?
[[ $status -eq 130 ]] || fail "interrupted: exit $status"
grep -qE "Interrupted. Finished trials are kept in the folder 'cut' \([0-9]+, .*\); the same command continues" errors || fail "$(cat errors)"
