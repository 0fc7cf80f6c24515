# Cross-examination of a file, and the verdict of a run wherever it is reported.
. "$TESTS/cli/support.bash"
cat >pair.bug <<'END'
model {
  a ~ dnorm(0, 1)
  b ~ dnorm(0.9 * a, 5)
}
END

# Exact draws pass; draws with half the spread fail, and the verdict names the variables and the direction.
works run pair.bug -m langevin --init prior -t 0 --quiet -o exact.csv
grep -qx '# verdict = not converged' exact.csv # a run without moves has not converged, whatever its start
works verify exact.csv pair.bug
shows '^100 particles of 2 variables, 30 exact moves each in '
shows '^Passed: no mean, sd, quantile or score changed significantly after 30 exact moves of each particle \(2 variables\)\.$'
works verify exact.csv pair.bug --require-converged
awk -F, -v OFS=, '/^#|^lp__/ { print; next } { $2 /= 2; $3 /= 2; print }' exact.csv >half.csv
works verify half.csv pair.bug
shows '^Failed: the particles change under exact moves: '
shows '^a +sd +-0\.[3-6][0-9]* +-[0-9.]+$'
! "$SVMP" verify half.csv pair.bug --require-converged >said 2>&1
awk -F, -v OFS=, '/^#|^lp__/ { print; next } { $2 += 1; $3 += 1; print }' exact.csv >shifted.csv
works verify shifted.csv pair.bug --seed 3 --moves 100
shows '^a +(mean|median) +\+[01]\.[0-9]+ +\+[0-9.]+$'
refuses 2 "The option '--moves' must be a whole number from 40 to 1000000" verify exact.csv pair.bug --moves 3
refuses 2 'Missing argument. Usage: svmp verify FILE MODEL [DATA...].' verify exact.csv
works run -m graphical chain.mtx b.mtx -n 20 -t 10 --quiet -o other.csv
status=0
"$SVMP" verify other.csv pair.bug >said 2>errors || status=$?
[[ $status -eq 2 ]] || fail "another model's particles: exit $status, $(cat errors)"

# Draws of chains are thinned.
works run pair.bug -m nuts --quiet -o chains.csv
works verify chains.csv pair.bug
shows '^200 particles of 2 variables, '
shows '^Passed: '

shows '^Passed: R-hat is at most 1\.00[0-9] and there are at least [0-9]+ effective draws; no mean, sd, quantile or score changed$'
grep -qx '# verdict = passed' chains.csv
works summary chains.csv
shows '^Passed: R-hat is at most 1\.00[0-9] '
works run pair.bug -m nuts --warmup 50 --draws 20 --quiet -o few.csv
shows '^Not converged: (there are too few effective draws|the chains have not mixed): '
grep -qx '# verdict = not converged' few.csv
works verify few.csv pair.bug
shows '^Not converged: (there are too few effective draws|the chains have not mixed): '

# A veto of the run is also one of verify; a run that has not converged names the variable and the amount.
works run pair.bug -t 30 --quiet -o hasty.csv
shows '^transport: 100 particles of 2 variables, 30 iterations in .* s, not converged$'
shows '^(Not converged: after 30 iterations |Failed: )'
grep -qE '^# verdict_veto = (not_settled|average_error|average_drift|identity|not_mixed) ' hasty.csv
works verify hasty.csv pair.bug
shows '^(Not converged: after 30 iterations |Failed: )'

# Mean and sd are right, but the shape is wrong: two clusters instead of one. The sum of both variables, their longest
# direction, is named.
awk -F, -v OFS=, '/^#|^lp__/ { print; next } { s = $2 < 0 ? -1 : 1; d = $3 - 0.9 * $2; $2 = s + 0.1 * ($2 - s); $3 = 0.9 * $2 + d; print }' exact.csv >heaps.csv
works verify heaps.csv pair.bug
shows '^Failed: '
works verify exact.csv pair.bug --local
shows '^Passed: no .* after [0-9]+ exact local moves of each particle .* Other modes were not searched for\.$|^Passed: no .* after [0-9]+ exact local moves'

# A model that is not a density is refused at once.
sed 's/^2 1 -1$/2 1 -9/' chain.mtx >improper.mtx
for method in transport graphical nuts local; do
    refuses 2 'The precision matrix is not positive definite' run improper.mtx -m $method --quiet
done

# The same sentence on the terminal, in the record and in the summary; the exit status on request.
works run -m graphical chain.mtx b.mtx -n 50 -t 500 --step adam:0.1..0.004 --quiet -o good.csv --require-converged
shows '^Passed: no mean, sd, quantile or score changed '
works summary good.csv
shows '^Passed: no mean, sd, quantile or score changed '
grep -qx '# verdict = passed' good.csv
grep -q '^# verdict_text = Passed: no mean, sd, quantile or score changed significantly after 30 exact moves of each particle' good.csv
status=0
"$SVMP" run -m graphical chain.mtx b.mtx -n 50 -t 2 --quiet -o bad.csv --require-converged >said 2>errors || status=$?
[[ $status -eq 1 ]] || fail "exit $status: $(cat said errors)"
shows '^Failed: the particles change under exact moves: x\.[123] '
grep -qx '# verdict = failed' bad.csv
grep -qE '^# verdict_drift x\.[123] = (mean|sd|median|tails|score|quantile) -?[0-9.e+-]+ -?[0-9.e+-]+$' bad.csv
works run chain.mtx b.mtx -m nuts --quiet --require-converged
status=0
"$SVMP" run chain.mtx b.mtx -m nuts --warmup 20 --draws 10 --quiet --require-converged >said 2>errors || status=$?
[[ $status -eq 1 ]] || fail "chains: exit $status: $(cat said errors)"

# Without the examination no sample passes, and a message says how to run it.
works run -m graphical chain.mtx b.mtx -n 50 -t 500 --step adam:0.1..0.004 --quiet --verify no -o unseen.csv
shows '^Not examined: convergence is unknown\.$'
shows '^To examine them: svmp verify unseen\.csv MODEL \[DATA\.\.\.\]; or run with --verify yes\.$'
grep -qx '# verdict = not examined' unseen.csv
works verify unseen.csv chain.mtx b.mtx
shows '^Passed: '
refuses 2 "The option '--verify' must be auto, yes or no, not 'maybe'." run chain.mtx --verify maybe
if "$SVMP" --version | grep -q '^netcdf: yes' && command -v ncdump >/dev/null; then
    works run -m graphical chain.mtx b.mtx -n 50 -t 500 --step adam:0.1..0.004 --quiet -o good.nc
    ncdump -h good.nc | grep -q ':verdict = "passed"' || fail "$(ncdump -h good.nc)"
fi

# One verdict in every place: the record, the table, the summary, --progress json and verify; also if thinning removed
# the draws that the run objected to.
cat >funnel.bug <<'END'
model {
  v ~ dnorm(0, 1/9)
  for (i in 1:4) { x[i] ~ dnorm(0, exp(-v)) }
}
END
flat() { tr '\n' ' ' | tr -s ' '; }
same_everywhere() { # FILE MODEL OPTION...
    "$SVMP" run "$2" "${@:3}" --progress json --threads 1 -o "$1" >said 2>json || fail "run $*: $(cat json)"
    flat <said >table
    local text
    text=$(sed -n 's/^# verdict_text = //p' "$1")
    [[ -n $text ]] || fail "no verdict in $1"
    grep -qF "$text" table || fail "table: $(cat table), not $text"
    grep -qF "\"sentence\": \"$text\"" json || fail "json: $(cat json), not $text"
    works summary "$1"
    flat <said | grep -qF "$text" || fail "summary: $(cat said), not $text"
    works verify "$1" "$2" --threads 1
    flat <said | grep -qF "$text" || fail "verify: $(cat said), not $text"
}
same_everywhere passed.csv pair.bug
same_everywhere failed.csv pair.bug -m graphical -n 30 -t 3
same_everywhere unsettled.csv pair.bug -t 30
same_everywhere short.csv pair.bug -m nuts --warmup 50 --draws 20
same_everywhere divergent.csv funnel.bug -m nuts --coordinates centred --thin 50

# Values outside the model's support are reported with their place.
cat >bounded.bug <<'END'
model {
  tau ~ dgamma(2, 1)
  u ~ dunif(2, 3)
  p[1:3] ~ ddirch(c(1, 1, 1))
  O[1:2,1:2] ~ dwish(R[,], 4)
}
END
echo '{"R": [[1, 0], [0, 1]]}' >bounded.json
works run bounded.bug bounded.json -m langevin --init prior -t 0 -n 20 --quiet -o bounded.csv
works verify bounded.csv bounded.bug bounded.json
change() { # NAME NUMBER: that variable of particle 7
    awk -F, -v OFS=, -v name="$1" -v to="$2" '
        /^#/ { print; next }
        /^lp__/ { for (k = 1; k <= NF; k++) if ($k == name) at = k; print; next }
        { if (++row == 7) $at = to; print }' bounded.csv >changed.csv
}
change tau -1.5
refuses 2 "'tau' is -1.5 in particle 7, outside its support: 0 to inf." verify changed.csv bounded.bug bounded.json
refuses 2 "'tau' is -1.5 in particle 7, outside" run bounded.bug bounded.json --init changed.csv -n 20 --quiet
change u 3.25
refuses 2 "'u' is 3.25 in particle 7, outside its support: 2 to 3." verify changed.csv bounded.bug bounded.json
change p.2 1.25
refuses 2 "'p.2' is 1.25 in particle 7, outside its support: 0 to 1." verify changed.csv bounded.bug bounded.json
change p.2 0.999
refuses 2 "'p[1:3]' does not sum to 1 in particle 7." verify changed.csv bounded.bug bounded.json
change O.2.1 1e-3
refuses 2 "The matrix 'O[1:2,1:2]' is not symmetric in particle 7." verify changed.csv bounded.bug bounded.json
change tau 0 # on the boundary, by rounding
works verify changed.csv bounded.bug bounded.json

# A random walk whose step size may be near 0: averages converge before all chains have been there, which R-hat shows.
printf 'model { x[1] ~ dnorm(0, 1/(s*s))\n for (t in 2:30) { x[t] ~ dnorm(x[t-1], 1/(s*s)) }\n for (t in 1:30) { y[t] ~ dnorm(x[t], 4) }\n s ~ dunif(0, 3) }\n' >walk.bug
echo 'y <- c(-0.79, 0.87, 0.17, -0.47, 0.45, 0.01, -0.31, -0.32, -0.50, 0.02, 0.53, -0.16, 0.21, 0.94, -0.61, 0.13, -0.15, -0.53, -0.51, -0.01, 0.22, -0.27, 0.03, 0.36, 0.15, 0.43, 0.23, 0.24, 0.91, 0.31)' >walk.R
works run walk.bug walk.R -q
shows '^Not converged: the chains have not mixed: s .*Use -m nuts'
