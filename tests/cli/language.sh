# Models of the language: every file of models/ is checked, drawn and run; errors have the form of a compiler's.
. "$TESTS/cli/support.bash"

# A model's data files have its name; the eight-schools models share theirs, and so do the crowd models.
data_of() {
    local base=${1%.bug}
    base=${base%_centred}
    base=${base%_log}
    ls "$base".json "$base".csv "$base".R 2>/dev/null || true
}

json=1
"$SVMP" --version | grep -q '^jansson: yes' || json=
for model in "$MODELS"/*.bug; do
    [[ $json || $(data_of "$model") != *.json* ]] || continue
    works check "$model" $(data_of "$model")
    shows '^nodes +[0-9]+$'
    shows '^observed values +[0-9]+$'
    works graph "$model" $(data_of "$model")
    works run -m graphical "$model" $(data_of "$model") -n 10 -t 5 -q -o out.csv --force
    works summary out.csv
done

# Natural values are written, and a run starts from them.
works run -m graphical "$MODELS/schools.bug" "$MODELS/schools.R" -n 20 -t 50 -q --init prior -o first.csv
[[ $(rows first.csv | head -1) == lp__,eta.1,eta.2,*,eta.8,mu,tau ]] || fail "the header is $(rows first.csv | head -1)"
rows first.csv | tail -n +2 | awk -F, '$11 <= 0 { exit 1 }' || fail "tau is not positive"
works run -m graphical "$MODELS/schools.bug" "$MODELS/schools.R" --init first.csv -t 0 -q -o again.csv
works compare first.csv again.csv

# Monitored deterministic nodes: on the natural scale, after the unknowns, in the model's shape; a start ignores them.
schools="$MODELS/schools.bug $MODELS/schools.R"
works run -m graphical $schools -n 20 -t 50 -q --monitor theta,mu -o theta.csv
[[ $(rows theta.csv | head -1) == lp__,*,mu,tau,theta.1,*,theta.8 ]] || fail "the header is $(rows theta.csv | head -1)"
rows theta.csv | tail -n +2 | awk -F, '{ d = $12 - ($10 + $11 * $2); if (d * d > 1e-18) exit 1 }' || fail "theta.1 is not mu + tau eta.1"
works summary theta.csv
shows '^theta\.8 '
works run -m graphical $schools --init theta.csv -t 0 -q
works run $schools -m nuts --warmup 20 --draws 20 -q --monitor theta --save theta -o draws.csv
grep -qx '# monitor = theta' draws.csv && grep -qx '# save = theta' draws.csv || fail "what is in the file is not recorded"
[[ $(rows draws.csv | head -1) == *chain__,theta.1,*,theta.8 ]] || fail "the header is $(rows draws.csv | head -1)"
if "$SVMP" --version | grep -q '^netcdf: yes'; then
    works run -m graphical $schools -n 20 -t 50 -q --monitor theta -o theta.nc
    works compare theta.csv theta.nc
fi
refuses 2 "Cannot monitor 'thta': the model has no such node; did you mean 'theta'?" run $schools --monitor thta
refuses 2 "Cannot monitor 'y': it is data." run $schools --monitor y
works run -m graphical $schools -n 20 -t 50 -q --monitor 'theta[3],mu,theta[3]' -o element.csv
[[ $(rows element.csv | head -1) == *,mu,tau,theta_3 ]] || fail "one element: $(rows element.csv | head -1)"
diff <(rows element.csv | awk -F, '{ print $NF }' | tail -n +2) <(rows theta.csv | awk -F, '{ print $(NF - 5) }' | tail -n +2)
works run -m graphical $schools -n 20 -t 50 -q --monitor 'theta[3],theta' -o element.csv --force
diff <(rows element.csv) <(rows theta.csv)
works run -m graphical $schools -n 20 -t 50 -q --monitor theta.3,theta -o third.csv # the name in files
diff <(rows element.csv) <(rows third.csv) || fail "theta.3,theta is not theta[3],theta"
refuses 2 "Cannot monitor 'theta.9': it is not an element of 'theta'." run $schools --monitor theta.9
refuses 2 "Cannot monitor 'theta.': the model has no such node; did you mean 'theta'?" run $schools --monitor theta.
refuses 2 "Cannot monitor 'theta[9]': it is not an element of 'theta'." run $schools --monitor 'theta[9]'
refuses 2 "Cannot monitor 'theta[1,2]': it is not an element of 'theta'." run $schools --monitor 'theta[1,2]'
refuses 2 "Cannot monitor 'theta[03]': it is not an element of 'theta'." run $schools --monitor 'theta[3],theta[03]'
refuses 2 "Cannot monitor 'y[2]': it is data." run $schools --monitor 'y[2]'
refuses 2 "has no deterministic nodes to monitor: only model texts have them." run "$MODELS/grid.mtx" --monitor y
echo 'model { x ~ dnorm(0, 1); y <- 2 * x; z <- log(x) }' >twice.bug
"$SVMP" run -m graphical twice.bug -n 20 -t 2 -q --monitor y,z -o twice.csv >said 2>errors || fail "exit $?: $(cat errors)"
[[ $(cat errors) == "svmp: 'z' is omitted: it is not finite in some particles." ]] || fail "$(cat errors)"
[[ $(rows twice.csv | head -1) == lp__,x,y ]] || fail "the header is $(rows twice.csv | head -1)"
# Nor does the table: every row agrees with the file, with the errors and effective draws of its variable.
"$SVMP" run twice.bug -m nuts --warmup 50 --draws 50 -q --monitor z,y -o rows.csv >said 2>errors || fail "exit $?: $(cat errors)"
cp said table
works summary rows.csv
diff <(grep -E '^[a-z] ' table) <(grep -E '^[a-z] ' said) || fail "the table is not that of the file"
shows '^y '
works run -m graphical $schools -n 20 -t 1 -q --monitor theta --save theta -o theta_alone.csv
refuses 2 "The start contains none of the model's 10 variables." run $schools -n 20 -t 0 -q --init theta_alone.csv
echo 'model { x ~ dnorm(0, 1); y.1 <- 2 * x }' >dotted.bug
works run -m graphical dotted.bug -n 20 -t 2 -q --monitor y.1 -o dotted.csv
works run -m graphical dotted.bug -n 20 -t 0 -q --init dotted.csv
refuses 1 "Nothing is written to 'none.csv': all variables of --save are omitted." \
    run twice.bug -n 20 -t 2 -q --monitor z --save z -o none.csv

# A start around the mode; a centred hierarchy has no mode, since its scale may shrink to 0.
works run -m graphical "$MODELS/logistic.bug" "$MODELS/logistic.csv" -n 20 -t 5 -q --init map
refuses 2 "The start 'map' needs a density with a maximum, but none was found" \
    run -m graphical "$MODELS/schools_centred.bug" "$MODELS/schools.R" -q --init map

# Unknown and observed arrays; partly observed arrays are listed in both.
cat >partly.bug <<'END'
model {
  for (i in 1:6) {
    y[i] ~ dnorm(mu[g[i]], tau)
    twice[i] <- 2 * y[i]
  }
  for (j in 1:2) { for (k in 1:2) { B[j,k] ~ dnorm(0, 1) } }
  v[2:3] ~ dnorm(0, 1)
  mu[1] ~ dnorm(0, 1)
  mu[2] ~ dnorm(0, 1)
  tau ~ dgamma(1, 1)
}
END
printf 'y <- c(1, NA, 3, NA, 5, NA)\ng <- c(1, 1, 1, 2, 2, 2)\nB <- structure(c(1, NA, NA, NA), .Dim = c(2L, 2L))\n' >partly.R
works check partly.bug partly.R
shows '^unknown +mu\[1:2\], tau$'
shows '^drawn after the run +y\[2:6\] \(3 of 5\), B\[1:2,1:2\] \(3 of 4\), v\[2:3\]$'
shows '^NA in the data +y\[2\], y\[4\], y\[6\], B\[1,2\], B\[2,1\], B\[2,2\]$'
shows '^observed +y\[1:5\] \(3 of 5\), B\[1,1\]$'
works check "$MODELS/schools.bug" "$MODELS/schools.R"
shows '^unknown +eta\[1:8\], mu, tau$'
shows '^observed +y\[1:8\]$'

# Exact answers if all statements are Gaussian: y ~ N(m, 1), m ~ N(0, 1) with y = 3 has the mean 1.5.
printf 'model {\n  m ~ dnorm(0, 1)\n  y ~ dnorm(m, 1)\n}\n' >normal.bug
echo 'y <- 3' >normal.R
works check normal.bug normal.R
shows '^jointly Gaussian +yes$'
if "$SVMP" --version | grep -q '^cholmod: yes'; then
    works run normal.bug normal.R -m exact -q
    shows '^m +1\.5 +0\.7071 '
    refuses 2 "but the factor on line 5 is not linear-quadratic in its unknowns." \
        run "$MODELS/logistic.bug" "$MODELS/logistic.csv" -m exact
fi

# A run that reaches a point where the density is undefined fails and names the line.
printf 'model {\n  p ~ dnorm(0, 1)\n  y ~ dbern(p)\n}\n' >outside.bug
echo 'y <- 1' >outside.R
refuses 1 "(statement on line 3)." run -m graphical outside.bug outside.R -q

# All errors of a pass, each with its line and a caret, and nothing else; exit 2; no file is left.
cat >wrong.bug <<'END'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu, sigm)
  }
  mu ~ dnrom(0, 1)
  sigma ~ dgamma(1)
}
END
cat >expected <<'END'
wrong.bug:3:22: error: 'sigm' is not defined; did you mean 'sigma'?
        y[i] ~ dnorm(mu, sigm)
                         ^
wrong.bug:5:8: error: unknown distribution 'dnrom'; did you mean 'dnorm'?
      mu ~ dnrom(0, 1)
           ^
wrong.bug:6:11: error: 'dgamma' takes 2 arguments, not 1
      sigma ~ dgamma(1)
              ^
END
echo 'N <- 2 y <- c(1, 2)' >wrong.R
status=0
"$SVMP" run -m graphical wrong.bug wrong.R -o none.csv >said 2>errors || status=$?
[[ $status -eq 2 && ! -s said && ! -e none.csv ]] || fail "exit $status"
diff expected errors || fail "the errors differ"

# Errors of the data are reported in the same way; data that the model does not use cause a warning.
printf 'N,y\n1,2\n3\n' >wrong.csv
status=0
"$SVMP" check wrong.bug wrong.csv 2>errors || status=$?
[[ $status -eq 2 ]] || fail "exit $status"
grep -q "^wrong.csv:3:1: error: the last row has 1 field, but the header has 2: was the file cut short?" errors || fail "$(cat errors)"
printf 'model { for (i in 1:3) { v[i] ~ dnorm(0, u) }\n u ~ dexp(1) }' >infinite.bug
printf 'w,v\n1,2\n2,Inf\n3,4\n' >infinite.csv
if "$SVMP" check infinite.bug infinite.csv >said 2>errors; then fail "an infinite value is taken"; fi
grep -qF "'v[2]' (infinite.csv:3) is outside the support of dnorm: it is infinite" errors || fail "$(cat errors)"
printf 'model { for (i in 1:3) { v[i] ~ dnorm(b * w[i], 1) T(, top[i]) }\n b ~ dnorm(0, 1) }' >covariate.bug
printf 'w,v,top\n1,2,Inf\n-Inf,3,Inf\n3,4,Inf\n' >covariate.csv
if "$SVMP" check covariate.bug covariate.csv >said 2>errors; then fail "an infinite covariate is taken"; fi
grep -qF "'w[2]' (covariate.csv:3) is infinite, and is multiplied by an unknown (i = 2)" errors || fail "$(cat errors)"
sed -i s/-Inf/2/ covariate.csv # an infinite bound is no bound
"$SVMP" check covariate.bug covariate.csv >said 2>errors || fail "$(cat errors)"
echo 'model { x ~ dnorm(0, 1) }' >right.bug
echo 'z <- 1' >unread.R
"$SVMP" check right.bug unread.R >said 2>errors || fail "exit $?"
[[ $(head -1 errors) == "unread.R:1:1: warning: 'z' is not used by the model" ]] || fail "$(cat errors)"
printf 'x%d,' {1..29} >many.csv
printf 'x30\n' >>many.csv
printf '1,%.0s' {1..29} >>many.csv
echo 1 >>many.csv
"$SVMP" check right.bug many.csv >said 2>errors || fail "exit $?"
[[ $(grep -c 'is not used by' errors) -eq 5 ]] || fail "$(cat errors)"
grep -qxF 'right.bug: warning: 25 more names of the data are not used by the model' errors || fail "$(cat errors)"
printf '\xFF\xFEm\0o\0d\0' >wide.bug
if "$SVMP" check wide.bug 2>errors; then fail "UTF-16 is taken"; fi
grep -qxF "wide.bug: error: the text is UTF-16; convert it to UTF-8." errors || fail "$(cat errors)"
printf 'x,y\n1,\0\n' >nul.csv
if "$SVMP" check right.bug nul.csv 2>errors; then fail "a NUL byte is taken"; fi
grep -qxF "nul.csv: error: not a text file: it contains a NUL byte." errors || fail "$(cat errors)"
printf 'x,y\n1,\033[2J\n' >escape.csv
if "$SVMP" check right.bug escape.csv 2>errors; then fail "an escape is a number"; fi
! grep -q $'\033' errors || fail "an escape sequence is shown as it is"
