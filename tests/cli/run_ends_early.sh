# Runs that are stopped or diverge write their particles, and the exit status says so.
. "$TESTS/cli/support.bash"
set -m # jobs in the background shall not ignore SIGINT

for signal in TERM INT; do
    "$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 1000000000 -o $signal.csv >said 2>errors &
    listening $!
    kill -$signal $!
    status=0
    wait $! || status=$?
    [[ $status -eq 130 ]] || fail "SIG$signal: exit $status: $(cat errors)"
    grep -qE "^svmp: Interrupted after [0-9]+ of 1000000000 iterations; the particles are in '$signal.csv'\.$" errors
    grep -qxF "svmp: Without --checkpoint the run cannot be resumed; --init $signal.csv starts a new run from these particles." errors
    grep -qxF '# outcome = stopped' $signal.csv
    [[ $(rows $signal.csv | wc -l) -eq 6 ]]
    works summary $signal.csv
done

# Signals within a second count as one; a later one ends the run without waiting for the iteration.
"$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 1000000000 -o twice.csv >said 2>errors &
listening $!
kill -TERM $!
kill -INT $! 2>/dev/null || true
kill -TERM $! 2>/dev/null || true
status=0
wait $! || status=$?
[[ $status -eq 130 && -s twice.csv ]] || fail "signals together: exit $status: $(cat errors)"
cat >slow.bug <<'END'
model { for (i in 1:3000) { x[i] ~ dnorm(0, 1) } }
END
"$SVMP" run slow.bug -m vanilla -n 3000 -t 1000 --threads 1 -o never.csv >said 2>errors &
listening $!
kill -TERM $!
sleep 1.2
if kill -TERM $! 2>/dev/null; then
    status=0
    wait $! || status=$?
    [[ $status -eq 143 && ! -e never.csv ]] || fail "a signal later on: exit $status: $(cat errors)"
    grep -qxF 'svmp: Interrupted again: the run is aborted.' errors || fail "$(cat errors)"
fi

# One particle and a step a million times too long: x <- x - 1e6 A x, to infinity.
status=0
"$SVMP" run -m graphical chain.mtx -n 1 --step fixed:1e6 -o away.csv >said 2>errors || status=$?
[[ $status -eq 1 && ! -s said ]] || fail "exit $status: $(cat errors said)"
grep -qxF "svmp: The last finite particles are in 'away.csv'." errors
[[ $(head -1 errors) == "svmp: "* ]]
grep -qxF '# outcome = diverged' away.csv
works summary away.csv
refuses 1 "The particles diverged" run -m graphical chain.mtx -n 1 --step fixed:1e6
grep -qxF "svmp: Try a smaller step or a start from a Gaussian fit: --step fixed:1e+05, --init gaussian." errors || fail "$(cat errors)"

# Langevin dynamics on counts, whose scores grow exponentially; a run that follows the advice completes.
poisson=(run "$MODELS/poisson.bug" "$MODELS/poisson.R" -q -t 200 -m langevin)
refuses 1 "try a smaller step (--step fixed:0.001 --init gaussian)" "${poisson[@]}"
refuses 1 "try a smaller step (--step fixed:0.0001), or" "${poisson[@]}" --step fixed:0.001 --init gaussian
works "${poisson[@]}" --step fixed:0.0001 --init gaussian
! grep -q adam said || fail "langevin takes no such step: $(cat said)"

# With all three standard files closed the particles are written, and the exit status reports that nothing could be
# printed.
works run -m graphical chain.mtx -n 5 -t 5 -o open.csv
status=0
"$SVMP" run -m graphical chain.mtx -n 5 -t 5 -o shut.csv <&- >&- 2>&- || status=$?
[[ $status -eq 1 ]] && diff <(rows open.csv) <(rows shut.csv) || fail "exit $status"

# If standard output is full or closed the command fails, but its file is written.
if [[ -w /dev/full ]]; then
    status=0
    "$SVMP" run -m graphical chain.mtx -n 5 -t 5 -o full.csv >/dev/full 2>errors || status=$?
    [[ $status -eq 1 ]] && grep -qxF "svmp: Cannot write to standard output: No space left on device." errors
    works summary full.csv
fi
status=0
{ "$SVMP" manual 2>errors || echo $? >status; } | true
[[ ! -s status || ($(cat status) -eq 1 && ! -s errors) ]] # the reader of the pipe has closed it
