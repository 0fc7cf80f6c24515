# Files of JAGS users: data written by R's dump and as BUGS lists, inits, CODA chains; also the results for discrete
# unknowns, the log likelihood and the deviance.
. "$TESTS/cli/support.bash"
words=$TESTS/peer/words

# The same data written differently, and with a byte order mark.
works check "$words/regimes.bug" "$words/regimes.R"
shows '^discrete, summed out +regime\[1:60\]$'
cp said expected
{
    printf '\xEF\xBB\xBFT <- as.integer(60)\n.RNG.name <- "base::Mersenne-Twister"\nprior <- matrix(c(6, 1, 1, 6), nrow = 2, byrow = TRUE)\n'
    printf 'first <- structure(c(a = 0.5, b = 0.5), .Names = c("a", "b"))\n'
    grep '^"y"' "$words/regimes.R"
} >data.R
works check "$words/regimes.bug" data.R
diff expected said || fail "other words, other data"

# Probabilities, with draws on request, and the same from the file.
works run "$words/guessing.bug" "$words/guessing.R" -n 40 -t 20 -q --monitor knows,log_lik,deviance -o out.csv
shows '^Probabilities of the discrete unknowns:$'
shows '^knows.1 += 1: '
shows '^WAIC .* \(15 observations\)$'
shows '^DIC .*, Monte Carlo standard error '
grep '^knows.1 .*= 1' said >first
works summary out.csv
shows '^WAIC .* \(15 observations\)$'
grep '^knows.1 .*= 1' said | diff first - || fail "the file has other probabilities"
works summary out.csv --variables knows.7
[[ $(grep -c '^knows.* = 1: ' said) == 1 ]] || fail "not the probability of knows.7 alone: $(cat said)"
shows '^knows.7 = 1: '
[[ $(rows out.csv | sed -n 1p) == *knows.15,log_lik.1,* ]] || fail "the header is $(rows out.csv | head -1)"

# The draws 10, 12, 14 and 20 have mean 14 and variance 56/3; x + (x - 14)^2/2 has variance 132.
printf 'deviance\n10\n12\n14\n20\n' >four.csv
works summary four.csv
shows '^DIC 23.333, Monte Carlo standard error 5.7: mean deviance 14, pD 9.33 '

# Replicates of observed arrays come last; in NetCDF they form ArviZ's group posterior_predictive.
works run "$words/guessing.bug" "$words/guessing.R" -n 40 -t 20 -q --monitor posterior_predictive -o again.csv
[[ $(rows again.csv | sed -n 1p) == *,rate,right_rep.1,*,right_rep.15 ]] || fail "the header is $(rows again.csv | head -1)"
rows again.csv | tail -n +2 | awk -F, '$NF != int($NF) || $NF < 0 { exit 1 }' || fail "no counts: $(rows again.csv)"
if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    works run "$words/guessing.bug" "$words/guessing.R" -n 40 -t 20 -q --monitor posterior_predictive -o again.nc
    grep -q posterior_predictive again.nc || fail "no group posterior_predictive"
    works compare again.nc again.csv
    shows '^MSE of E\[x\] +0$'
fi

# Each unknown of the inits in turn; unknowns that are not named keep their start; unknown names are refused.
echo 'rate <- as.numeric(0.75); knows <- c(1, 0)' >a.R
echo 'list(rate = 0.9)' >b.R
works run "$words/guessing.bug" "$words/guessing.R" -n 3 -t 0 -q --init a.R,b.R -o start.csv
[[ $(rows start.csv | sed -n '2,3s/.*,//p' | cut -c1-4 | xargs) == '0.75 0.90' || $(rows start.csv | sed -n '2,3s/.*,//p' | cut -c1-4 | xargs) == '0.75 0.9' ]] ||
    fail "the start is $(rows start.csv)"
echo 'rates <- 1' >wrong.R
status=0
"$SVMP" run "$words/guessing.bug" "$words/guessing.R" -n 3 -t 0 -q --init wrong.R >said 2>errors || status=$?
[[ $status -eq 2 ]] && grep -q "'rates' is not an unknown of the model" errors || fail "exit $status: $(cat errors)"

# One row of a particle file starts all particles.
rows start.csv | sed -n 1,2p >one.csv
works run "$words/guessing.bug" "$words/guessing.R" -n 30 -t 0 -q --init one.csv -o spread.csv
[[ $(rows spread.csv | tail -n +2 | sort -u | wc -l) -eq 30 ]] || fail "not spread: $(rows spread.csv)"
[[ $(rows spread.csv | sed -n 2p) == $(sed -n 2p one.csv) ]] || fail "the first is $(rows spread.csv | sed -n 2p)"

# Chains of JAGS.
printf 'mu[1] 1 4\nmu[2] 5 8\ntau 9 12\n' >CODAindex.txt
for chain in 1 2; do seq 1 12 | sed "s/$/ $chain.5/" >CODAchain$chain.txt; done
works summary CODAindex.txt
shows '^2 chains of 4 draws of 3 variables$'
shows '^mu.2 +2 '
rm CODAchain*
refuses 2 "there is no 'CODAchain1.txt' beside it" summary CODAindex.txt

# Counts without a largest value: the sum is truncated far above the observed counts, and the verdict says if that was
# too low. With the check of truncation, svmp warns beforehand or raises the truncation.
printf 'model { lambda ~ dgamma(1, 0.001)\n p ~ dbeta(1, 30)\n for (i in 1:2) { N[i] ~ dpois(lambda)\n y[i] ~ dbin(p, N[i]) } }\n' >open.bug
echo 'y <- c(3, 4)' >open.R
works run open.bug open.R -n 20 -t 20 -q --coordinates centred
shows "^Not the model's posterior: the sum over N.[12] was truncated at 124, where its probability is not negligible"
shows 'T\(, 372\)'
printf 'model { lambda ~ dgamma(10, 0.05)\n p ~ dbeta(20, 1000)\n for (i in 1:2) { N[i] ~ dpois(lambda)\n y[i] ~ dbin(p, N[i]) } }\n' >open.bug
works run open.bug open.R -n 20 -t 20 -q
! grep -q 'was truncated' said || fail "the sum should be longer: $(cat said)"
printf 'model { lambda ~ dgamma(20, 10)\n p ~ dbeta(20, 10)\n for (i in 1:2) { N[i] ~ dpois(lambda)\n y[i] ~ dbin(p, N[i]) } }\n' >open.bug
works run open.bug open.R -n 20 -t 20 -q
! grep -q 'was truncated' said || fail "the bound is far enough: $(cat said)"

# A bend at point 12 or 13 of 29; given each, the lines are 7 sd apart. By integration over the precision, with the
# coefficients integrated out, P(12) is 0.1296 and P(13) is 0.8693. With 4000 draws and an effective sample size of
# 1000, the standard error is 0.011, as with 1000 particles.
cat >bend.bug <<'EOF'
model {
  for (i in 1:N) {
    Y[i] ~ dnorm(alpha + beta[1 + step(i - k - 0.5)] * (x[i] - x[k]), tau)
    prior[i] <- 1 / N
  }
  tau ~ dgamma(0.001, 0.001)
  alpha ~ dnorm(0, 1.0E-6)
  for (j in 1:2) { beta[j] ~ dnorm(0, 1.0E-6) }
  k ~ dcat(prior[])
}
EOF
cat >bend.R <<'EOF'
N <- 29
x <- c(-1.4, -1.279, -1.157, -1.036, -0.914, -0.793, -0.671, -0.55, -0.429, -0.307, -0.186, -0.064, 0.057, 0.179, 0.3, 0.421, 0.543, 0.664, 0.786, 0.907, 1.029, 1.15, 1.271, 1.393, 1.514, 1.636, 1.757, 1.879, 2)
Y <- c(1.08, 1.09, 0.99, 0.94, 0.93, 0.86, 0.79, 0.77, 0.7, 0.58, 0.63, 0.57, 0.54, 0.36, 0.24, 0.06, 0, -0.11, -0.27, -0.35, -0.43, -0.63, -0.73, -0.84, -1, -1.12, -1.21, -1.31, -1.41)
EOF
for method in 'nuts' 'transport -n 1000'; do
    # shellcheck disable=SC2086 # two words
    works run bend.bug bend.R -q -m $method
    shows '^Passed: '
    grep '^k = ' said | awk '{
        for (i = 1; i < NF; i++) if ($i == "12:") p = $(i + 1) + 0
        exit !(p > 0.0796 && p < 0.1796) }' || fail "P(k = 12) is 0.1296: $(grep '^k = ' said)"
done

# A discontinuous density: the posterior of the change point is piecewise constant and known.
cat >jump.bug <<'EOF'
model {
  for (i in 1:20) { y[i] ~ dnorm(ifelse(i > place, 1, 0), 1) }
  place ~ dunif(0, 20)
}
EOF
echo 'y <- c(-0.3, 1, 0.2, -1.1, 0.4, 0.1, -0.6, 0.9, 0.3, 1.4, 0.2, 1.9, 0.7, -0.2, 1.3, 0.8, 2.1, 1.2, 0.4, 1.6)' >jump.R
works run jump.bug jump.R -q -o jump.csv
shows '^Passed: '
# i - 1 < place < i for i - 1 zeros followed by ones; 4000 draws are worth 1000 independent ones; their mean is within 4.5 standard errors
sed 's/.*c(//; s/)//; s/,//g' jump.R | awk '
    NR == FNR { n = NF; for (i = 1; i <= n; i++) { f = 0; for (j = 1; j <= n; j++) f -= ($j - (j >= i)) ^ 2 / 2; p[i] = exp(f); total += p[i] }
                for (i = 1; i <= n; i++) { mean += p[i] / total * (i - 0.5); square += p[i] / total * ((i - 0.5) ^ 2 + 1 / 12) }; next }
    /^#/ { next }
    !header { for (k = split($0, names, ","); k > 0; k--) if (names[k] == "place") column = k; header = 1; next }
    { split($0, values, ","); sum += values[column]; count++ }
    END { error = (sum / count - mean) / sqrt((square - mean ^ 2) / 1000)
          if (count != 4000 || error ^ 2 > 4.5 ^ 2) { printf "mean %g instead of %g\n", sum / count, mean; exit 1 } }' - jump.csv >said 2>&1 ||
    fail "$(cat said)"

# A string in the model is neither data nor an unknown.
printf 'model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }\n mu ~ dnorm(0, 1) }\n' >text.bug
printf 'y <- c(1.1, "a", 3)\n' >text.R
! "$SVMP" check text.bug text.R 2>errors >said || fail "text was taken for data: $(cat said)"
grep -q "the values of 'y' in the data are text, not numbers" errors || fail "$(cat errors)"
printf 'y <- c(1.1, 2, 3)\nlabel <- c("a", "b", "c")\n' >text.R
works check text.bug text.R

# So with a column of a CSV file, also among initial values.
printf 'site,y\n"a, b",1.1\nc,2\nd,3\n' >text.csv
works check text.bug text.csv
printf 'y,site\n1.1,1\n2,2\n,1.7x\n' >text.csv
printf 'model { for (i in 1:3) { y[i] ~ dnorm(mu + site[i], 1) }\n mu ~ dnorm(0, 1) }\n' >site.bug
! "$SVMP" check site.bug text.csv 2>errors >said || fail "text was taken for data: $(cat said)"
grep -q "text.csv:4:2: error: '1.7x' in column 'site' is not a number" errors || fail "$(cat errors)"
printf 'y <- c(1.1, 2, 3)\n' >text.R
printf 'mu <- "one"\n' >mu.R
! "$SVMP" run text.bug text.R --init mu.R -q >said 2>errors || fail "a start of text was skipped"
grep -q "mu.R:1:1: error: the values of 'mu' in the data are text" errors || fail "$(cat errors)"

# An array of inits must have the size that it has in the model.
printf 'theta <- c(1, 2, 3)\n' >short.R
! "$SVMP" run "$MODELS/schools_centred.bug" "$MODELS/schools.R" --init short.R -q >said 2>errors || fail "three of eight were taken"
grep -q "'theta' has 3 values here, but 8 in the model" errors || fail "$(cat errors)"

# BUGS tables, alone and with a list, in files of any name; inits and models in files of any name.
printf 'model { for (i in 1:N) { y[i] ~ dnorm(a + b[g[i]], 1) }\n for (j in 1:2) { b[j] ~ dnorm(0, 1) }\n a ~ dnorm(0, 1) }\n' >table.model
printf 'list(N = 3)\r\ng[] y[]\r\n1 -0.3\r\n2 1.2E0\r\n2 NA\r\nEND\r\n' >table.dat
works check table.model table.dat
shows '^observed +y\[1:2\]$'
printf 'list(a = 0.25, b = c(1, 2))\n' >start.in
works run table.model table.dat --init start.in -n 2 -t 0 -q -o begun.csv
[[ $(rows begun.csv | sed -n 2p) == *,1,2,0.25 || $(rows begun.csv | sed -n 2p) == *1,2,0.25,* ]] || fail "the start is $(rows begun.csv)"

# A long comment may come first, and '~' in it is not a statement; a pipe is read from its first byte, and an empty one
# is an error.
{ printf '# y ~ x %5000s\n' .; cat table.model; } >long.model
{ printf '# y ~ x %5000s\n' .; cat table.dat; } >long.dat
{ printf '# y ~ x %5000s\n' .; cat start.in; } >long.in
works check table.model table.dat
cp said expected
works check long.model long.dat
diff expected said || fail "a comment makes another model"
works check <(cat long.model) <(cat long.dat)
diff expected said || fail "a pipe has another model"
refuses 2 'the pipe is empty' check <(true) table.dat
works run long.model long.dat --init long.in -n 2 -t 0 -q -o long.csv
[[ $(rows long.csv) == "$(rows begun.csv)" ]] || fail "the start is $(rows long.csv)"

# Arguments in the wrong order, and data of another model.
refuses 2 "'table.dat' is a data file; the model file comes first" check table.dat table.model
cp table.dat data.txt
cp table.model model.bug
refuses 2 "'data.txt' is a data file; the model, 'model.bug', comes first" check data.txt model.bug
! "$SVMP" check model.bug data.txt table.model 2>errors || fail "a model was taken for data"
grep -q 'table.model: error: this is a model, not data; the model is the first file' errors || fail "$(cat errors)"
sed 's/y\[\]/Y[]/' data.txt >upper.txt
"$SVMP" check model.bug upper.txt >said 2>errors || fail "$(cat errors)"
grep -q "'Y' is not used by the model; did you mean 'y', which has no data?" errors || fail "$(cat errors)"
grep -q 'nothing is observed' errors || fail "$(cat errors)"

# A count with an unknown size and an upper bound; some counts are missing, and observed values depend on those.
printf 'model { for (i in 1:6) { k[i] ~ dnegbin(p, r) T(0, 12)\n y[i] ~ dnorm(k[i], 1) }\n p <- r / (r + m)\n r ~ dgamma(2, 1)\n m ~ dgamma(2, 1) }\n' >cut.bug
echo 'k <- c(3, NA, 0, 4, NA, 1); y <- c(3.2, 1.8, 0.4, 4.9, 7.5, 0.6)' >cut.R
works run cut.bug cut.R -q
shows '^Passed: '

# Every file is read once, although several models are compiled: pipes, with or without a name, and the standard input
# give what files give.
printf 'model { for (i in 1:8) { y[i] ~ dnorm(th[i], 0.01)\n th[i] ~ dnorm(mu, t) }\n mu ~ dnorm(0, 0.001)\n t ~ dgamma(1, 1) }\n' >pipe.bug
"$SVMP" check pipe.bug <(echo 'y <- c(28, 8, -3, 7, -1, 1, 18, 12)') --coordinates auto >said 2>errors || fail "a pipe: $(cat errors)"
shows '^observed +y.1:8'
echo 'y <- c(28, 8, -3, 7, -1, 1, 18, 12)' >pipe.R
works run pipe.bug pipe.R -n 8 -t 3 --verify no -q -o files.csv
mkfifo named.bug named.R
cat pipe.bug >named.bug &
cat pipe.R >named.R &
timeout 60 "$SVMP" run named.bug named.R -n 8 -t 3 --verify no -q -o named.csv >said 2>errors || fail "a named pipe: exit $?: $(cat errors)"
diff <(rows files.csv) <(rows named.csv) || fail "a named pipe has another model"
works run pipe.bug /dev/stdin -n 8 -t 3 --verify no -q -o stdin.csv <pipe.R
diff <(rows files.csv) <(rows stdin.csv) || fail "the standard input has another model"
sed 's/dnorm(mu, t)/dnorm(nu, t)/' pipe.bug >wrong.bug
! cat pipe.R | "$SVMP" check wrong.bug /dev/stdin >said 2>errors || fail "nu is not defined"
grep -q "wrong.bug:2:16: error: 'nu' is not defined" errors || fail "$(cat errors)"
! grep -q pipe errors || fail "$(cat errors)"
