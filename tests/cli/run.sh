# Runs that work: files, records, starts, and the same bits every time.
. "$TESTS/cli/support.bash"

works run -m graphical chain.mtx b.mtx -n 20 -t 50 --seed 7 --threads 1 -o a.csv --quiet
shows '^graphical: 20 particles of 3 variables, 50 iterations in .* s, completed$'
shows '^variable +mean +sd +5% +50% +95%$'
shows '^x\.3 +-?[0-9]'
[[ $(rows a.csv | head -1) == lp__,x.1,x.2,x.3 ]]
[[ $(rows a.csv | wc -l) -eq 21 ]]
for line in 'model = chain.mtx' 'data = b.mtx' 'method = graphical' 'bandwidth = median' 'kernel = rbf@blanket' 'step = adagrad:1' 'particles = 20' \
    'iterations = 50' 'seed = 7' 'init = normal:1' 'threads = 1' 'outcome = completed' 'iterations done = 50'; do
    grep -qxF "# $line" a.csv || fail "the record lacks '$line'"
done
grep -qxE '# backend = cpu-(baseline|avx2|avx512)' a.csv || fail "the record lacks the instruction set"
! grep -qE "method's (own|default)|^# (chains|warmup|draws) =" a.csv || fail "the record holds what did not run: $(grep '^#' a.csv)"
grep -qxF '# measured[measured] = 8 16 32 50' a.csv
grep -qxF "# iteration[iteration] = $(seq -s ' ' 50)" a.csv
grep -qE '^# svmp [0-9.]+$' a.csv
grep -qE '^# seconds = [0-9.]+$' a.csv
[[ $(ls -A | grep -c '^\.svmp') -eq 0 ]]

# The bits do not depend on threads, but on the seed.
works run -m graphical chain.mtx b.mtx -n 20 -t 50 --seed 7 -o b.csv --quiet --threads 3
diff <(rows a.csv) <(rows b.csv)
works run -m graphical chain.mtx b.mtx -n 20 -t 50 --seed 8 -o b.csv --quiet --force
! diff <(rows a.csv) <(rows b.csv) >/dev/null

# A run starts from another's output: with no iterations it returns the same particles. -n defaults to the file's.
works run -m graphical chain.mtx b.mtx --init a.csv -t 0 -o c.csv
diff <(rows a.csv) <(rows c.csv)
grep -qxF '# particles = 20' c.csv
grep -qxF '# init = a.csv' c.csv
works run -m graphical chain.mtx b.mtx --init a.csv -n 20 -t 0

# Another -n: if the file has more rows, the last of each of n equal parts is used; if fewer, all, and others around
# them.
works run -m graphical chain.mtx b.mtx --init a.csv -n 5 -t 0 -o few.csv
diff <(rows a.csv | awk 'NR > 1 && (NR - 1) % 4 == 0' | cut -d, -f2-) <(rows few.csv | tail -n +2 | cut -d, -f2-)
works run -m graphical chain.mtx b.mtx --init a.csv -n 21 -t 0 -o around.csv
diff <(rows a.csv | cut -d, -f2-) <(rows around.csv | head -21 | cut -d, -f2-)
[[ $(rows around.csv | tail -n +2 | sort -u | wc -l) -eq 21 ]]
sed 's/,x.1,/,y,/' a.csv >renamed.csv
refuses 2 "x.1" run chain.mtx --init renamed.csv
refuses 2 "Cannot read 'nowhere.csv': No such file or directory." run chain.mtx --init nowhere.csv
works run -m graphical chain.mtx --init uniform:-1,1 -t 1

# A run that ends by its tolerance says so.
works run -m graphical chain.mtx b.mtx -n 10 --tolerance 1e9 -o d.csv
grep -qxF '# outcome = converged' d.csv
grep -qxF '# iterations done = 1' d.csv

# Exact moments: A^-1 = (3 2 1; 2 4 2; 1 2 3)/4, mean A^-1 b.
if "$SVMP" --version | grep -q '^cholmod: yes'; then
    works run chain.mtx b.mtx -m exact -n 10 -o exact.csv
    shows '^x\.1 +1\.25 +0\.866 '
    shows '^x\.2 +1 +1 +-0\.6449 +1 +2\.645$'
    shows '^x\.3 +0\.75 +0\.866 '
    shows '^These numbers are exact'
    shows '^exact: 10 independent draws of 3 variables, 1 iteration in '
    refuses 2 "The method 'exact' does not take --iterations: it does not iterate." run chain.mtx -m exact -t 5
    printf '%%%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n1\n' >indefinite.mtx
    refuses 2 "positive definite" run indefinite.mtx -m exact
fi

# More than forty variables: ten are shown, with a hint how to see the rest.
diagonal() { printf '%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n' "$1" "$1" "$1"; for ((i = 1; i <= $1; i++)); do echo "$i $i 1"; done; }
diagonal 40 >forty.mtx
diagonal 41 >more.mtx
works run -m graphical forty.mtx -t 1
shows '^x\.40 '
! grep -q 'more variable' said
works run -m graphical more.mtx -t 1
shows '^31 more variables: use -o FILE to keep them all$'
works run -m graphical more.mtx -t 1 -o more.csv
shows '^31 more variables: svmp summary more.csv \[--variables NAME,...\]$'

# Particle message passing chooses its number of iterations and describes its particles.
for method in dpmp tpmp; do
    refuses 2 "The method '$method' needs factors of at most two nodes, but a factor on line 4 has 3: " \
        run "$MODELS/schools_centred.bug" "$MODELS/schools.R" -m $method
    works run chain.mtx b.mtx -m $method -n 10 -o $method.csv --quiet
    shows "^$method: 10 particles of 3 variables, 100 iterations in .* s, completed\$"
    shows '^The particles represent modes'
    grep -qxF '# iterations = 100' $method.csv
    grep -qxF '# iterations done = 100' $method.csv
done
