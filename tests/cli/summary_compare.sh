# Summaries and comparisons of hand-made files.
. "$TESTS/cli/support.bash"
printf '# by hand\nlp__,mu,theta.1\n-1,4,0\n-1,1,0\n-1,3,0\n-1,2,0\n' >four.csv

works summary four.csv
shows '^4 particles of 2 variables$'
shows '^mu +2\.5 +1\.291 +1\.15 +2\.5 +3\.85$'
shows '^theta\.1 +0 +0 +0 +0 +0$'
works summary four.csv --variables theta.1,mu
[[ $(grep -E '^(mu|theta)' said | cut -d' ' -f1 | tr '\n' ' ') == "theta.1 mu " ]]
shows '^The file records no verdict, so it is unknown how far these particles are from the posterior: svmp verify FILE MODEL$'
works summary --variables=mu four.csv
[[ $(grep -c theta said) -eq 0 ]]
refuses 2 "Unknown variable 'nu' in 'four.csv', which has 2 variables, 'mu' to 'theta.1'." summary four.csv --variables mu,nu
refuses 2 "Unknown variable ''" summary four.csv --variables mu,
works summary four.csv --variables theta,mu,theta.1
[[ $(grep -E '^(mu|theta)' said | cut -d' ' -f1 | tr '\n' ' ') == "theta.1 mu " ]]
printf 'x\n1\n2,3\n' >bad.csv
refuses 2 "bad.csv:3: the row has 2 fields, but the header on line 1 has 1." summary bad.csv
refuses 2 "Cannot read '.': Is a directory." summary .
printf 'lp__,x,lp__\n1,2,3\n' >twice.csv
refuses 2 "twice.csv:1: two columns have the name 'lp__'." summary twice.csv
printf 'chain__,x,chain__\n1,2,1\n' >twice.csv
refuses 2 "twice.csv:1: two columns have the name 'chain__'." summary twice.csv
: >empty.csv
refuses 2 "empty.csv:1: the file is empty." summary empty.csv

# A stray particle: the sd of its variable disagrees with the quantiles. Quantiles of one value say nothing.
{ echo "# draws"; echo x,y,z; for k in {1..40}; do echo "$k,$k,0"; done; echo 20,9000,7; } >stray.csv
works summary stray.csv
shows '^y: the sd is [0-9.e+]+ times what its quantiles suggest; a few values far from the others make up most of it\.$'
[[ $(grep -c 'times what' said) -eq 1 ]]

# Numbers so large or small that their squares overflow or underflow.
{ echo chain__,a,b; for c in 1 2; do for t in {1..8}; do echo "$c,${t}e307,${t}e-310"; done; done; } >extreme.csv
works summary extreme.csv
shows '^a +4\.5e\+307 +1\.4e\+307 +2\.366e\+307 '
shows '^b +4\.5e-310 +1\.4e-310 +2\.366e-310 '
works compare extreme.csv extreme.csv
shows '^MSE of E\[x\^2\] +0$'
shows '^MMD +undefined: '
shows '^No verdict: the chains of the reference have not mixed \(R-hat is up to 1\.[0-9]+\), so the standard errors are wrong\.$'
! grep -q nan said

# The file's record says what its particles are.
printf '# method = dpmp\nx\n1\n2\n' >modes.csv
works summary modes.csv
shows "^The particles represent modes: their spread is not that of the posterior\.$"
works compare modes.csv modes.csv
shows '^particles +2 particles that represent modes, not a sample: '
printf '# method = exact\nx\n1\n2\n' >draws.csv
works summary draws.csv
shows '^2 independent draws of 1 variable$'
shows '^The draws are independent: the standard error of a mean is sd/sqrt\(n\)\.$'
printf '# method = langevin\n# outcome = diverged\nx\n1\n2\n' >gone.csv
works summary gone.csv
shows '^The run diverged: these are its last finite particles, far from the posterior\.$'

# The standard errors of all moments.
refuses 2 "The option '--errors' applies only to chains; 'four.csv' contains particles." summary four.csv --errors
works summary extreme.csv --errors
shows '^Monte Carlo standard errors \(MCSE\):$'

# E[x] = 0 and 2, E[x^2] = 1 and 5.
printf 'x\n-1\n1\n' >x.csv
printf 'x\n1\n3\n' >y.csv
works compare x.csv y.csv
shows '^MSE of E\[x\] +4$'
shows '^MSE of E\[x\^2\] +16$'
# h = 4: k(X,X) = k(Y,Y) = (1 + e^-1)/2, k(X,Y) = (2 e^-1 + e^-4 + 1)/4
shows '^MMD +0\.700601'
works compare x.csv x.csv
shows '^MMD +0$'
shows '^largest \|z\| +0 of the means \(x, z = 0\)$'
shows '^They agree: no \|z\| of means, sds and quantiles exceeds the 1 % significance limit 3\.02\.$'
works compare x.csv y.csv --per-variable --threads 2
# means 0 and 2, each with a standard error of 1; both sd are sqrt(2): t = -sqrt(2) with 2 degrees of freedom
shows '^x +0 +2 +4 +1 +5 +16 +-1\.05 +1\.000 +0\.00 +-?[0-9.]+ +-?[0-9.]+$'
refuses 2 "The variables differ: 1 of the particles is not in the reference (x), and 2 of the reference are not in the \
particles (mu, theta.1)." compare x.csv four.csv
printf '# draws\nx\n1\n' >one.csv
printf 'x,z\n1,4\n2,5\n' >more.csv
works compare x.csv more.csv
shows "^not compared    1 of 2 variables, only in .more.csv.: z$"
shows "^variables +1$"
works compare x.csv more.csv --variables x
shows '^variables +1$'
refuses 2 "Unknown variable 'nu' in 'x.csv'" compare x.csv y.csv --variables nu
works compare x.csv one.csv
shows '^MMD +undefined: the median distance within the reference is 0 or too large to square$'
shows '^No verdict: standard errors need at least two particles on each side, and at least six draws in each chain\.$'
works summary one.csv
shows '^1 particle of 1 variable$'
[[ ! -w /dev/full ]] || { ! "$SVMP" compare x.csv y.csv >/dev/full 2>errors && grep -q 'No space left' errors; }

# The time to read comments is linear in their number.
{ seq -f '# comment %.0f of many that a file may have above its header' 400000; cat x.csv; } >comments.csv
timeout 20 "$SVMP" summary comments.csv >said || fail "exit $?"

# More than 50 variables: scalars and small arrays in full, the worst, and a line for every larger array.
awk 'BEGIN {
    line = "tau,small.1,small.2"; for (i = 1; i <= 6; i++) for (j = 1; j <= 9; j++) line = line ",x." i "." j
    for (i = 3; i <= 14; i++) if (i != 5) line = line ",y." i
    print line
    for (l = 1; l <= 3; l++) {
        line = l ",1,2"; for (i = 1; i <= 6; i++) for (j = 1; j <= 9; j++) line = line "," (10 * i + j + (l - 2) * j)
        for (i = 3; i <= 14; i++) if (i != 5) line = line "," (i * l)
        print line
    }
}' >many.csv
{ echo '# draws'; cat many.csv; } >drawn.csv
works summary drawn.csv
shows '^3 particles of 68 variables$'
shows '^tau +2 +1 +1\.1 +2 +2\.9$'
shows '^small\.2 +2 +0 '
[[ $(grep -cE '^(x|y)\.' said) -eq 0 ]] || fail "$(cat said)"
shows '^x\[1:6,1:9\] +54 +11 +69 +1 +9$'
shows '^y\[3:14\] \(11 of 12\) +11 +6 +28 +3 +14$'
[[ $(grep -nE '^tau' said | cut -d: -f1) -lt $(grep -nE '^x\[' said | cut -d: -f1) ]]
works summary drawn.csv --variables x
[[ $(grep -cE '^x\.' said) -eq 54 ]]
{ echo "chain__,$(head -1 many.csv)"; for c in 1 2; do for t in {1..8}; do echo "$c,$(sed -n "$((t % 3 + 2))p" many.csv | awk -F, -v OFS=, -v c=$c -v t=$t '{ $20 += 5 * c; $1 += t % 4; print }')"; done; done; } >chains.csv
works summary chains.csv
shows '^The 10 variables with the highest R-hat:$'
[[ $(grep -A2 '^The 10 variables' said | tail -1 | cut -d' ' -f1) == x.2.8 ]] || fail "$(cat said)"
shows '^array +elements +mean from +to +sd from +to R-hat up to +ESS from$'

# A model given as a particle file is distinguished from a damaged file.
refuses 2 "'$MODELS/linear.bug' is a model: a file of particles (.csv or .nc) must come first." summary "$MODELS/linear.bug"
refuses 2 "is a model: a file of particles" verify "$MODELS/linear.bug" "$MODELS/linear.csv"

# A table of data is no sample.
printf 'age,y\n60,1\n61,2\n' >table.csv
refuses 2 "'table.csv' looks like a table of data: it has neither the record of a run nor a column lp__ or chain__. If its rows \
are draws, begin the file with a line '# draws'." summary table.csv

# Scalars come before elements of arrays, unless the user has listed them.
printf '# draws\nx.1,mu,x.2,nu\n1,2,3,4\n2,3,4,5\n' >ordered.csv
works summary ordered.csv
[[ $(grep -E '^(x|mu|nu)' said | cut -d' ' -f1 | tr '\n' ' ') == "mu nu x.1 x.2 " ]] || fail "$(cat said)"
works summary ordered.csv --variables x,mu
[[ $(grep -E '^(x|mu|nu)' said | cut -d' ' -f1 | tr '\n' ' ') == "x.1 x.2 mu " ]] || fail "$(cat said)"
