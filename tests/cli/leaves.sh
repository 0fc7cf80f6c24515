# Leaves, the unknown nodes on which no observation depends: drawn after the run, reported under their names.
. "$TESTS/cli/support.bash"

cat >line.bug <<'END'
model {
  for (i in 1:N) { y[i] ~ dnorm(rest + give * x[i], tau) }
  for (j in 1:20) { new[j] ~ dnorm(rest + give * j, tau) }
  rest ~ dnorm(0, 0.01)
  give ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 0.1)
  count ~ dpois(exp(give))
  twice <- 2 * count
}
END
grep -vE 'new|count' line.bug >plain.bug
printf 'N <- 6\nx <- c(0, 1, 2, 3, 4, 5)\ny <- c(0.1, NA, 2.2, 2.9, NA, 5.2)\n' >line.R

works check line.bug line.R
shows '^nodes +3$'
shows '^unknown +rest, give, tau$'
shows '^drawn after the run +y\[2:5\] \(2 of 4\), new\[1:20\], count$'
shows '^NA in the data +y\[2\], y\[5\]$'
shows '^computed \(--monitor\) +twice$'

# The other nodes have the same numbers as without leaves; `twice` follows from the count; columns are in the order of
# the text.
for method in graphical nuts; do
    size="-n 30 -t 20"
    [[ $method == graphical ]] || size="--warmup 30 --draws 20"
    works run line.bug line.R -m $method $size -q --monitor twice -o with.csv --force
    works run plain.bug line.R -m $method $size -q -o without.csv --force
    column() { rows "$1" | awk -F, -v name="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k } { print $at }'; }
    for name in lp__ rest give tau; do
        diff <(column with.csv $name) <(column without.csv $name) || fail "$method: $name differs"
    done
    diff <(column with.csv twice | tail -n +2) <(column with.csv count | tail -n +2 | awk '{ print 2 * $1 }')
done
[[ $(rows with.csv | head -1) == *chain__,y.1,y.2,y.3,y.4,y.5,y.6,new.1,*,new.20,rest,give,tau,count,twice ]] ||
    fail "the header is $(rows with.csv | head -1)"
works summary with.csv
shows '^new\.20 '
works run line.bug line.R -m graphical -n 30 -t 20 -q --save new,count -o saved.csv
[[ $(rows saved.csv | head -1) == lp__,new.1,*,new.20,count ]] || fail "the header is $(rows saved.csv | head -1)"
if "$SVMP" --version | grep -q '^netcdf: yes'; then
    works run line.bug line.R -m graphical -n 30 -t 20 -q -o with.nc
    works run line.bug line.R -m graphical -n 30 -t 20 -q -o with.csv --force
    works compare with.csv with.nc
fi

# Starts with and without leaves; threads.
works run line.bug line.R -m graphical -n 30 -t 0 -q --init with.csv -o again.csv
works run plain.bug line.R -m graphical -n 30 -t 20 -q -o without.csv --force
works run line.bug line.R -m graphical -n 30 -t 0 -q --init without.csv -o other.csv
diff <(rows again.csv) <(rows other.csv) || fail "the starts differ"
works run line.bug line.R -m graphical -n 30 -t 20 -q --threads 1 -o one.csv
works run line.bug line.R -m graphical -n 30 -t 20 -q --threads 3 -o three.csv
diff <(rows one.csv) <(rows three.csv) || fail "threads differ"

# The report accepts the file; the graph has no leaves.
works report with.csv line.bug line.R -o with.html
works graph line.bug line.R
! grep -q 'new' said || fail "the graph has leaves"

# Exact moments belong to the right variables.
printf 'model { p ~ dnorm(m, 4)\n m ~ dnorm(0, 1)\n y ~ dnorm(m, 1)\n q ~ dexp(exp(m)) }\n' >normal.bug
echo 'y <- 3' >normal.R
works run normal.bug normal.R -m exact -n 50 -q
shows '^m +1\.5 +0\.7071 '
shows '^These numbers are exact, except for nodes that are monitored or drawn after the run'

# Leaves that cannot be drawn are left out with a message; a model with only discrete nodes also runs.
printf 'model { m ~ dnorm(0, 1)\n y ~ dnorm(m, 1)\n p ~ dnorm(0, m) }\n' >wrong.bug
"$SVMP" run wrong.bug normal.R -m graphical -n 50 -t 5 -q -o wrong.csv >said 2>errors || fail "exit $?: $(cat errors)"
[[ $(cat errors) == "svmp: 'p' is omitted: it is not finite in some particles." ]] || fail "$(cat errors)"
[[ $(rows wrong.csv | head -1) == lp__,m ]] || fail "the header is $(rows wrong.csv | head -1)"
echo 'model { k ~ dpois(3) }' >discrete.bug
works run discrete.bug -n 50 -t 5 -q
shows '^k '

# Without observations the prior is sampled.
echo 'model { a ~ dnorm(0, 1); b ~ dnorm(a, 1) }' >prior.bug
works check prior.bug
shows '^unknown +a, b$'

# Several processes: the bits of one.
if several_processes; then
    works run line.bug line.R -m graphical -n 30 -t 20 -q --monitor twice -o one.csv --force
    mpirun -n 2 "$SVMP" run line.bug line.R -m graphical -n 30 -t 20 -q --threads 1 --monitor twice -o two.csv >said 2>errors || fail "$(cat errors)"
    diff <(rows one.csv) <(rows two.csv) || fail "processes differ"
fi
