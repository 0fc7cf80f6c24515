# The answer of the default method: draws in the files, the particles beside them.
. "$TESTS/cli/support.bash"

works run chain.mtx b.mtx -o draws.csv --particles particles.csv -q
shows '^transport: 100 chains of 40 draws of 3 variables, '
shows '^variable +mean +MCSE +sd +5% +50% +95% +R-hat +bulk ESS +tail ESS$'
shows '^Passed: .* of a sample of the draws'
[[ $(rows draws.csv | head -1) == lp__,chain__,x.1,x.2,x.3 && $(rows draws.csv | wc -l) -eq 4001 ]]
[[ $(rows particles.csv | head -1) == lp__,x.1,x.2,x.3 && $(rows particles.csv | wc -l) -eq 101 ]]
grep -qxF '# draws = 4000' draws.csv
works summary draws.csv
shows '^100 chains of 40 draws of 3 variables$'
works summary particles.csv
shows '^100 particles of 3 variables$'
works compare particles.csv draws.csv
shows '^They agree: '
works run chain.mtx b.mtx --particles-file again.csv --particles 100 -q
diff <(rows particles.csv) <(rows again.csv)

# The same bits with other threads, and after an interruption.
works run chain.mtx b.mtx -o threads.csv -q --threads 1
diff <(rows draws.csv) <(rows threads.csv)

# Their number.
"$SVMP" run chain.mtx b.mtx --draws 12000 -o many.csv -q >said 2>errors || fail "$(cat errors)"
[[ $(rows many.csv | wc -l) -eq 12001 ]]
"$SVMP" run chain.mtx b.mtx --draws 250 -q >said 2>errors || fail "$(cat errors)"
grep -qF 'The answer has 300 draws, not 250: 3 of each of the 100 particles.' errors || fail "$(cat errors)"
"$SVMP" run chain.mtx b.mtx --draws 1000000 -q >said 2>errors || fail "$(cat errors)"
grep -qE 'The answer has [0-9]+ draws, not 1000000: the moves ended after [0-9]+ iterations; [0-9]+ of them count\.' errors || fail "$(cat errors)"
refuses 2 "The option 'draws' must be a whole number from 1 to 1000000000, not '0'." run chain.mtx --draws 0

# A run that ends before the first state has its particles, and says so.
works run chain.mtx b.mtx -t 30 -o short.csv --particles same.csv -q
shows '^transport: 100 particles of 3 variables, 30 iterations in .* s, not converged$'
diff <(rows short.csv) <(rows same.csv)

# The same variables in both files; what is wrong with the file is said before the run.
works run chain.mtx b.mtx --save x.2 -o one.csv --particles one_of_few.csv -q
[[ $(rows one_of_few.csv | head -1) == "$(rows one.csv | head -1 | sed s/chain__,//)" ]]
refuses 2 "The file 'one.csv' already exists; use --force to overwrite it." run chain.mtx --particles one.csv
refuses 2 "'new.csv' cannot be both the file of --particles and that of another option." run chain.mtx --particles new.csv -o new.csv
refuses 2 "The method 'nuts' has no particles to write to 'p.csv'; --output writes its result." run chain.mtx -m nuts --particles p.csv

if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    works run chain.mtx b.mtx -o draws.nc -q
    works summary draws.nc
    shows '^100 chains of 40 draws of 3 variables$'
    if command -v ncdump >/dev/null; then
        ncdump -h draws.nc >header
        for line in 'group: posterior' 'chain = 100 ;' 'draw = 40 ;' 'group: particles' 'draw = 100 ;'; do
            grep -qF -- "$line" header || fail "no '$line' in $(cat header)"
        done
    fi
fi
