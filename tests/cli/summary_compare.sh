# Summaries and comparisons of files made by hand.
. "$TESTS/cli/support.bash"
printf '# by hand\nlp__,mu,theta.1\n-1,4,0\n-1,1,0\n-1,3,0\n-1,2,0\n' >four.csv

works summary four.csv
shows '^4 particles of 2 variables$'
shows '^mu +2\.5 +1\.291 +1\.15 +2\.5 +3\.85$'
shows '^theta\.1 +0 +0 +0 +0 +0$'
works summary four.csv --variables theta.1,mu
[[ $(grep -E '^(mu|theta)' said | cut -d' ' -f1 | tr '\n' ' ') == "theta.1 mu " ]]
shows '^The file does not tell how far these particles are from the posterior: no KSD is recorded in it\.$'
works summary --variables=mu four.csv
[[ $(grep -c theta said) -eq 0 ]]
refuses 2 "There is no variable 'nu' in 'four.csv', which has 2, from 'mu' to 'theta.1'." summary four.csv --variables mu,nu
refuses 2 "There is no variable ''" summary four.csv --variables mu,
printf 'x\n1\n2,3\n' >bad.csv
refuses 2 "bad.csv:3: the number of fields is 2, but the header on line 1 has 1." summary bad.csv
refuses 2 "could not be read: Is a directory." summary .

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
shows '^They agree: no \|z\| is above 2\.81, which chance exceeds in one comparison of a hundred\.$'
works compare x.csv y.csv --per-variable --threads 2
# means 0 and 2, each with a standard error of 1; both sd are sqrt(2): t = -sqrt(2) with 2 degrees of freedom
shows '^x +0 +2 +4 +1 +5 +16 +-1\.05 +1\.000 +0\.00$'
refuses 2 "The variables differ: 1 of the particles are not in the reference (x), and 2 of the reference are not in the \
particles (mu, theta.1)." compare x.csv four.csv
printf 'x\n1\n' >one.csv
works compare x.csv one.csv
shows '^MMD +none: the median distance within the reference is 0$'
shows '^No verdict: a standard error needs two particles, and six draws of a chain\.$'
[[ ! -w /dev/full ]] || { ! "$SVMP" compare x.csv y.csv >/dev/full 2>errors && grep -q 'No space left' errors; }
