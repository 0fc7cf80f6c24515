# svmp predict and svmp simulate: new rows and groups, derived quantities, draws from the prior; what they refuse.
. "$TESTS/cli/support.bash"

cat >groups.bug <<'END'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + u[g[i]] + b * x[i], tau) }
  for (j in 1:J) { u[j] ~ dnorm(0, tu) }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  tau ~ dgamma(2, 1)
  tu ~ dgamma(2, 1)
  sigma <- 1 / sqrt(tau)
}
END
echo '{"N": 6, "J": 2, "x": [1, 2, 3, 4, 5, 6], "y": [1.1, 2.3, 2.9, 4.2, 5.1, 5.8], "g": [1, 1, 1, 2, 2, 2]}' >old.json
echo '{"N": 2, "J": 3, "x": [10, 20], "g": [1, 3]}' >new.json
works run groups.bug old.json -q -t 75 -o draws.csv

# column NAME FILE: the numbers of a column
column() { awk -F, -v name="$1" '/^#/ { next } !at { for (k = 1; k <= NF; k++) if ($k == name) at = k; next } { print $at }' "$2"; }

works predict draws.csv groups.bug new.json -q -o new.csv
[[ $(grep -v '^#' new.csv | head -1) == y.1,y.2,u_3 ]] || fail "$(grep -v '^#' new.csv | head -1)"
[[ $(column y.1 new.csv | wc -l) == $(column a draws.csv | wc -l) ]]
paste <(column y.1 new.csv) <(column a draws.csv) <(column b draws.csv) <(column u.1 draws.csv) <(column tau draws.csv) |
    awk '{ z = ($1 - $2 - 10 * $3 - $4) * sqrt($5); s += z * z } END { exit !(s / NR > 0.5 && s / NR < 1.7) }' ||
    fail "predictions are not of the draws' scatter"

# The same seed gives the same predictions, others do not.
works predict draws.csv groups.bug new.json -q -o again.csv
works predict draws.csv groups.bug new.json -q --seed 2 -o other.csv
diff <(column y.2 new.csv) <(column y.2 again.csv)
! diff <(column y.2 new.csv) <(column y.2 other.csv) >differences

works predict draws.csv groups.bug old.json --derive 'OR <- exp(b); for (j in 1:2) { d[j] <- u[j] - u[1] }' --monitor sigma -o derived.csv
shows '^OR  '
shows '^d\.2  '
paste <(column OR derived.csv) <(column b draws.csv) <(column sigma derived.csv) <(column tau draws.csv) |
    awk '{ e = $1 / exp($2) - 1; f = $3 * sqrt($4) - 1; if (e * e > 1e-24 || f * f > 1e-24) exit 1 }' ||
    fail "derived values are not those of the draws"
works predict draws.csv groups.bug old.json --monitor posterior_predictive,log_lik -q -o checks.csv
[[ $(grep -v '^#' checks.csv | head -1) == y_rep.1,*,log_lik.6 ]] || fail "$(grep -v '^#' checks.csv | head -1)"

! "$SVMP" predict draws.csv groups.bug old.json --derive 'q <- c' 2>errors
grep -q "^<statements>:1:6: error: 'c' is not defined" errors || fail "$(cat errors)"
echo '{"N": 1, "J": 3, "x": [1], "g": [3], "y": [1]}' >unknown.json
! "$SVMP" predict draws.csv groups.bug unknown.json 2>errors
grep -qF "the draws have no 'u[3]', on which something depends that is observed" errors || fail "$(cat errors)"
refuses 2 "There is nothing to predict" predict draws.csv groups.bug old.json
refuses 2 "A model must follow the draws" predict draws.csv draws.csv
refuses 2 "'draws.csv' " predict draws.csv groups.bug new.json -o draws.csv -f
refuses 2 "The option '--seed' must be a whole number" predict draws.csv groups.bug new.json --seed -1
refuses 2 "'groups.bug' is a model" predict groups.bug old.json

printf 'model { for (i in 1:length(y)) { y[i] ~ dnorm(u[g[i]], 1) }\n for (j in 1:max(g)) { u[j] ~ dnorm(0, 1) } }\n' >text.bug
printf 'y,g\n1,a\n2,b\n' >text.csv
works run text.bug text.csv -q -t 75 -o text_draws.csv
refuses 2 "'text_draws.csv' does not record the codes of text" predict text_draws.csv text.bug text.csv --monitor log_lik
works predict text_draws.csv text.bug text.csv --same-data --derive 'd <- u[2] - u[1]'
shows '^d +0\.[45]'

works simulate groups.bug old.json -n 4000 -q -o prior.csv
[[ $(grep -v '^#' prior.csv | head -1) == y.1,*,tu ]] || fail "$(grep -v '^#' prior.csv | head -1)"
column tau prior.csv | awk '{ s += $1 } END { exit !(NR == 4000 && s / NR > 1.85 && s / NR < 2.15) }' || fail "tau has another mean"
works summary prior.csv
refuses 2 "The option '--particles' must be a whole number from 1" simulate groups.bug old.json -n 0
echo 'model { y ~ dnorm(m, 1); m ~ dflat() }' >flat.bug
refuses 2 "The prior of 'm' cannot be drawn from: it is improper" simulate flat.bug
