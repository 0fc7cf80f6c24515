# Numbers that the draws do not know: the verdict says which, and what to do.
. "$TESTS/cli/support.bash"

# No mean and no sd: a Cauchy ratio. A variance without end: a lognormal of sd 2. A rare event.
printf 'model {\n  a ~ dnorm(0, 1)\n  b ~ dnorm(0, 1)\n  r <- a / b\n}\n' >ratio.bug
works run ratio.bug --monitor r -q -o ratio.csv
tr '\n' ' ' <said | grep -qE 'Uncertain: the tails of r are too heavy for a mean and an sd \(Pareto shape [01]\.[0-9]+\)\. All other means and sds passed\. Use the median and the interval\.' ||
    fail "$(cat said)"
grep -qxF '# verdict = uncertain' ratio.csv
"$SVMP" run ratio.bug --monitor r -q --require-converged >said 2>errors && fail 'uncertain numbers are not Passed'
printf 'model {\n  x ~ dnorm(0, 1)\n  r <- step(x - 3)\n}\n' >rare.bug
works run rare.bug --monitor r -q
tr '\n' ' ' <said | grep -qE 'Uncertain: the sd of r has a standard error of [0-9]+ %\. .*Run more draws \(--draws [0-9]+\), or use the median and the interval\.' ||
    fail "$(cat said)"
printf 'model {\n  x ~ dnorm(0, 1)\n  r <- step(x - 9)\n  k <- 3\n}\n' >never.bug
works run never.bug --monitor r,k -q
tr '\n' ' ' <said | grep -qE 'Passed: .* r and 1 more never vary in [0-9]+ draws\.' || fail "$(cat said)"

# What is not finite in some draws is left out, and the other rows stand.
printf 'model {\n  x ~ dnorm(0, 1)\n  l <- log(x)\n}\n' >logarithm.bug
"$SVMP" run logarithm.bug --monitor l -q >said 2>errors || fail "$(cat errors)"
grep -qF "'l' is omitted: it is not finite in some particles." errors
shows '^Passed: '

# The precision of the averages.
works run rare.bug --precision 0.05 -q
works run rare.bug --precision 0.005 -q
refuses 2 "The option 'precision' must be a number from 0.001 to 0.05, not '0'." run rare.bug --precision 0

# A recorded verdict belongs to the numbers of its file.
works run rare.bug -q -o whole.csv
works summary whole.csv
shows '^Passed: '
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { if (++row == 5) $3 = 9; print }' whole.csv >changed.csv
works summary changed.csv
shows '^The file was changed: its numbers are not those that its recorded verdict is about\.'
grep -q Passed said && fail "$(cat said)"
works run rare.bug -q --save x -o part.csv --particles few.csv
for file in part.csv few.csv; do
    works summary $file
    shows '^Passed: '
done
if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    works run rare.bug -q -o whole.nc
    works summary whole.nc
    shows '^Passed: '
fi
works run rare.bug -m nuts -q --split --chains 2 -o chain.csv
works summary chain_1.csv chain_2.csv
grep -q 'was changed' said && fail "$(cat said)"
works summary chain_1.csv
grep -q 'was changed' said && fail "$(cat said)"
true
