# Convergence diagnostics of a run: in its output, in its file, and in summary and compare.
. "$TESTS/cli/support.bash"
grid=("$MODELS/grid.mtx" "$MODELS/grid_b.mtx")

# A run that is too short says so at its end, in its file, and in the file's summary.
works run -m graphical "${grid[@]}" -n 30 -t 20 -o short.csv --quiet
shows '^KSD: V [0-9.]+, U [0-9.]+; last step at most 0\.[0-9]+, 0\.[0-9]+ sd \(x\.[0-9]+\)$'
shows '^Failed: the particles change under exact moves: x\.[0-9]+ \((mean|sd|median) '
tr '\n' ' ' <said | grep -q 'and [0-9]* more of 100 variables\. Do not use these numbers yet\. Use -m transport, ' || fail "$(cat said)"
verdict=$(grep '^Failed' said)
for line in 'ksd_u = [0-9.]+' 'ksd_v = [0-9.]+' 'ksd_ratio = [0-9.]+' 'ksd_beyond = [0-9]+ of 100' 'last_step = 0\.[0-9]+' \
    'last_step_sd = 0\.[0-9]+ x\.[0-9]+'; do
    grep -qxE "# $line" short.csv || fail "the record lacks '$line'"
done
[[ $(grep -c '^# ksd_node x\.[0-9]* = ' short.csv) -eq 10 ]]
works summary short.csv
grep -qxF -- "$verdict" said || fail "the summary does not repeat '$verdict'"
shows '^worst nodes +KSD U +KSD V +ratio +limit +moment z +limit$'
[[ $(grep -c '  fails$' said) -eq 10 ]]
awk '/^worst nodes/ { inside = 1; next } !NF { inside = 0 }
    inside { excess = $4 / $5 > $6 / $7 ? $4 / $5 : $6 / $7; if (last && excess > 1.02 * last) exit 1; last = excess }' said ||
    fail "the worst nodes are not in their order"

# A converged run does not.
works run -m graphical "${grid[@]}" -n 30 -t 2000 --step adam:0.1..0.004 -o long.csv --quiet
shows '^KSD: V [0-9.]+, U -?[0-9.e-]+; V is [0-9.]+ times its expected value for exact draws; '
shows '^Passed: no mean, sd, quantile or score changed significantly after 30 exact moves of each particle \(100 variables\)\.$'
grep -qx '# ksd_beyond = 0 of 100' long.csv
works summary long.csv
shows '^Passed: no mean, sd, quantile or score changed '

# Too few particles, one particle, and no iterations.
works run -m graphical chain.mtx b.mtx -n 5 -t 10 --quiet
shows '^Fewer than 10 particles: too few to judge convergence\. Use more particles \(-n 100\)\.$'
works run -m graphical chain.mtx b.mtx -n 1 -t 10 --quiet
shows '^KSD: V [0-9.e-]+; last step at most [0-9.e-]+$'
works run -m graphical chain.mtx b.mtx -n 20 -t 0 --quiet -o none.csv
! grep -q '^# last_step' none.csv

# Chains: standard errors, R-hat and effective sample size; advice when it is too small.
works run chain.mtx b.mtx -m nuts --warmup 200 --draws 500 --quiet -o chains.csv
shows '^variable +mean +MCSE +sd +5% +50% +95% +R-hat bulk ESS tail ESS$'
shows '^Passed: R-hat is at most 1\.00[0-9] and there are at least [0-9]+ effective draws; '
works summary chains.csv
shows '^4 chains of 500 draws of 3 variables$'
shows '^x\.1 +1\.[0-9]+ +0\.0[0-9]+ +0\.[0-9]+ .* (0\.999|1\.00[0-9]) +[0-9]+ +[0-9]+$'
works summary chains.csv --variables 'x[2],x[3]'
shows '^Passed: R-hat is at most'
works run chain.mtx b.mtx -m nuts --warmup 200 --draws 40 --quiet
shows '^Fewer than 400 effective draws for 3 of 3 variables \(fewest: x\.[123], [0-9]+\)\.$'
shows 'Warm up longer \(--warmup\), run more draws \(--draws\), or'
works run chain.mtx b.mtx -m nuts --warmup 20 --draws 4 --quiet
shows '^R-hat and ESS are not defined for 3 of 3 variables: they do not vary, or a chain has fewer than 6 draws\.$'
echo 'data { for (i in 1:20) { y[i] <- 2 * step(i - 8.5) + 0.3 * sin(i) } }
model { for (i in 1:20) { y[i] ~ dnorm(m[1 + step(i - t)], 4) }; t ~ dunif(1, 20); for (k in 1:2) { m[k] ~ dnorm(0, 1) } }' >jump.bug
works run jump.bug -m nuts --warmup 150 --draws 20 --quiet
tr '\n' ' ' <said | grep -q 'The density jumps in t, which gradients do not see. Use -m transport, or make a change point' || fail "$(cat said)"
{ echo chain__,x; for c in 1 2; do for t in {1..50}; do echo "$c,$((c * 100 + t * 37 % 50))"; done; done; } >apart.csv
works summary apart.csv
shows '^R-hat is above 1\.01 for 1 of 1 variables \(worst: x, [0-9.]+\)\.$'
shows '^Not converged: the chains have not mixed: x \(R-hat [0-9.]+\)\. .*--draws'

# A comparison names the file whose standard errors it uses, and gives a verdict.
works compare chains.csv chains.csv
shows '^particles +4 chains of 500 draws; standard errors from the effective draws \(MCSE\)$'
shows '^They agree: '
works compare short.csv long.csv --per-variable
shows '^particles +30 particles; standard errors as for independent draws, sd/sqrt\(n\)$'
shows '^largest \|z\| +[0-9.]+ of the means \(x\.[0-9]+, z = -?[0-9.]+\)$'
shows '^largest \|z\| +[0-9.]+ of the sds \(x\.[0-9]+, z = -[0-9.]+\), 0\.[0-9]+ times the reference sd$'
shows '^They differ: \|z\| exceeds the 1 % significance limit 4\.21 for '
shows '^variable +E\[x\] +reference +sq\. error +E\[x\^2\] +reference +sq\. error +z +sd ratio z of sd z of 5% +of 95%$'
if "$SVMP" --version | grep -q '^cholmod: yes'; then
    works run "${grid[@]}" -m exact -n 500 -o exact.csv --quiet
    ! grep -q '^# ksd' exact.csv
    works compare long.csv exact.csv
    shows '^They agree: '
fi

# Statistics of all draws of a sampler are kept in its file or files, even if these hold few of the draws.
cat >funnel.bug <<'END'
model { mu ~ dnorm(0, 0.01); v ~ dnorm(0, 0.1); for (i in 1:4) { x[i] ~ dnorm(mu, exp(-2*v)); factor(0 * x[i]) } }
END
funnel=(run funnel.bug -m nuts --coordinates centred --warmup 200 --draws 300 --quiet)
works "${funnel[@]}" -o all.csv
sampler_statistics() { grep -E 'E-BFMI|trajectories diverged' said | sed -E 's/.*(lowest E-BFMI [0-9.]+, [0-9]+ divergent).*/\1/'; }
works summary all.csv
sampler_statistics >all
grep -qE ', [1-9][0-9]* divergent$' all || fail "nothing diverged: $(cat all)"
works "${funnel[@]}" -o thin.csv --thin 30
works "${funnel[@]}" -o thin.csv --thin 30 --split
outputs=(thin.csv)
if "$SVMP" --version | grep -q '^netcdf: yes'; then
    works "${funnel[@]}" -o thin.nc --thin 30
    outputs+=(thin.nc)
fi
for files in "${outputs[@]}" "thin_1.csv thin_2.csv thin_3.csv thin_4.csv"; do
    works summary $files
    shows '^4 chains of 10 draws'
    shows ' divergent before thinning$'
    diff all <(sampler_statistics) || fail "$files has other sampler statistics"
done
works report thin.csv -o thin.html
of_all=$(sed -nE 's/.*, ([0-9]+) divergent$/\1/p' all)
grep -qF "\"trajectories\":1200,\"divergent\":$of_all," thin.html || fail "the page has another number of divergences"

# A file with missing rows has no verdict; a file without its record, or with quoted names, is still read.
head -n -10 long.csv >cut.csv
refuses 2 "after 20 rows, but its header comments say 'rows below: 30': it was truncated or changed." summary cut.csv
refuses 2 "after 20 rows, but its header comments say 'rows below: 30'" run "${grid[@]}" --init cut.csv
rows cut.csv | sed '1s/[^,]*/"&"/g' >bare.csv
works summary bare.csv
shows '^The file records no verdict, so it is unknown how far'
sed 's/^# svmp .*/# svmp 9.9.0/' long.csv >later.csv
"$SVMP" summary later.csv >said 2>errors
grep -q "^svmp: warning: 'later.csv' was written by svmp 9\.9\.0; this is svmp [0-9.]*, which may not understand all of it\.$" errors ||
    fail "$(cat errors)"
