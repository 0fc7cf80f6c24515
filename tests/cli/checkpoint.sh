# A run that is killed at any moment and resumed writes the same file; a checkpoint of another run is refused.
. "$TESTS/cli/support.bash"
set -m # jobs in the background shall not ignore SIGINT

# The file without the lines that differ from run to run.
timeless() { grep -vE '^# (seconds|resumed|last_step|Elapsed|  .* seconds)' "$1"; } # a resumed run with no iterations left has no largest move

# Measure the run time to choose the moments to kill it: some are before the first checkpoint or after the end.
for method in "graphical -n 100 -t 8000" "mala -n 60 -t 15000" "nuts --warmup 4000 --draws 4000 --chains 2"; do
    arguments=(run chain.mtx b.mtx -m $method --threads 1 --quiet)
    works "${arguments[@]}" -o whole.csv
    rm -f c.svmp broken.csv
    kills=0
    for delay in 0.03 0.11 0.07 0.15 0.05 0.13 0.09 0.2; do
        [[ -s c.svmp ]] && resume="--resume c.svmp" || resume=
        "$SVMP" "${arguments[@]}" -o broken.csv --checkpoint c.svmp --checkpoint-every 0.02 $resume >said 2>errors &
        sleep $delay
        kill -KILL $! 2>/dev/null && kills=$((kills + 1))
        status=0
        wait $! 2>/dev/null || status=$?
        [[ $status -eq 137 || $status -eq 0 ]] || fail "exit $status: $(cat errors)"
        rm -f broken.csv .svmp-* # the run ended before it was killed, or was killed while writing
    done
    [[ $kills -gt 0 ]] || fail "nothing was killed"
    [[ -s c.svmp ]] && resume="--resume c.svmp" || resume=
    works "${arguments[@]}" -o broken.csv --checkpoint c.svmp $resume
    diff <(timeless whole.csv) <(timeless broken.csv) || fail "$method: the resumed run differs"
    [[ $(ls -A | grep -c 'c\.svmp') -eq 1 ]] || fail "files were left: $(ls -A)"
    echo "$method: $kills kills"
    rm -f whole.csv
done

# A model text with data: killed once, resumed; other data are refused.
if "$SVMP" --version | grep -qx 'jansson: yes'; then
    sensors=(run "$MODELS/sensors.bug" "$MODELS/sensors.json" -n 10 -t 60 --threads 1 --quiet)
    works "${sensors[@]}" -o whole.csv
    "$SVMP" "${sensors[@]}" --checkpoint s.svmp --checkpoint-every 0 >said 2>errors &
    until [[ -s s.svmp ]] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    works "${sensors[@]}" --resume s.svmp -o broken.csv --force
    diff <(timeless whole.csv) <(timeless broken.csv) || fail "sensors: the resumed run differs"
    sed '0,/\([0-9]\.[0-9]*\)[1-8]\b/s//\19/' "$MODELS/sensors.json" >other.json
    refuses 2 "or other data" run -m graphical "$MODELS/sensors.bug" other.json -n 10 -t 60 --resume s.svmp
    rm whole.csv broken.csv
fi

# Ctrl-C keeps a checkpoint, and the command that is printed continues to the same file.
rm -f c.svmp
"$SVMP" run -m graphical chain.mtx b.mtx -n 50 -t 15000 --kernel 'rbf@all + imq@self' --threads 1 --checkpoint "c 'x.svmp" -o int.csv >said 2>errors &
listening $!
kill -INT $!
status=0
wait $! || status=$?
[[ $status -eq 130 ]] || fail "exit $status: $(cat errors)"
grep -q "^svmp: To continue: svmp run .*--resume 'c '.''x.svmp' --force chain.mtx b.mtx$" errors || fail "$(cat errors)"
again=$(sed -n 's/^svmp: To continue: svmp //p' errors)
eval "works $again --quiet"
works run -m graphical chain.mtx b.mtx -n 50 -t 15000 --kernel 'rbf@all + imq@self' --threads 1 -o whole.csv
diff <(timeless whole.csv) <(timeless int.csv) || fail "the resumed run differs"

# A run also writes a checkpoint at its end; a longer run continues from there.
works run -m graphical chain.mtx b.mtx -n 5 -t 100 --checkpoint end.svmp
cp end.svmp grown.svmp
works run -m graphical chain.mtx b.mtx -n 5 -t 200 --resume grown.svmp --checkpoint-every 5 -o long.csv
refuses 2 "iterations = 100, which must not be smaller." run -m graphical chain.mtx b.mtx -n 5 -t 100 --resume grown.svmp
works run -m graphical chain.mtx b.mtx -n 5 -t 200 -o straight.csv
diff <(timeless straight.csv) <(timeless long.csv)

# A resumed run writes its checkpoints to the file that it was resumed from, so it can be interrupted again.
works run -m graphical chain.mtx b.mtx -n 5 -t 100 --threads 1 --checkpoint on.svmp
"$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 100000000 --threads 1 --resume on.svmp >said 2>errors &
listening $!
kill -INT $!
wait $! || true
reached=$(sed -nE 's/^svmp: Interrupted after ([0-9]+) of .*/\1/p' errors)
grep -q "^svmp: To continue: svmp run .*--resume on.svmp chain.mtx b.mtx$" errors || fail "$(cat errors)"
"$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 100000000 --threads 1 --resume on.svmp -o again.csv >said 2>errors &
listening $!
kill -INT $!
wait $! || true
grep -qx "# resumed at = $reached" again.csv || fail "interrupted at $reached, and $(grep resumed again.csv)"

# Refusals.
refuses 2 "has seed = 1, but this run has seed = 2." run -m graphical chain.mtx b.mtx -n 5 -t 100 --seed 2 --resume end.svmp
refuses 2 "iterations = 50, which must not be smaller." run -m graphical chain.mtx b.mtx -n 5 -t 50 --resume end.svmp
refuses 2 "the same graph, but other numbers in the factors" run -m graphical chain.mtx -n 5 -t 100 --resume end.svmp
refuses 2 "The checkpoint 'chain.mtx' is not in checkpoint format." run -m graphical chain.mtx --resume chain.mtx
refuses 2 "'end.svmp' is a checkpoint, not a file of particles. Continue from it (--resume FILE)." run -m graphical chain.mtx b.mtx --init end.svmp
refuses 2 "'end.svmp' is a checkpoint" run -m graphical chain.mtx b.mtx --init gaussian:end.svmp
refuses 2 "'end.svmp' is a checkpoint" summary end.svmp
refuses 2 "Cannot read the checkpoint 'no.svmp': No such file" run -m graphical chain.mtx --resume no.svmp
head -c 500 end.svmp >cut.svmp
refuses 2 "The checkpoint 'cut.svmp' is damaged" run -m graphical chain.mtx b.mtx -n 5 -t 100 --resume cut.svmp
refuses 2 "The file 'end.svmp' already exists: use --resume end.svmp to continue from it, or --force to start again and overwrite it." run -m graphical chain.mtx -n 5 --checkpoint end.svmp
refuses 2 "The option '--checkpoint-every' needs '--checkpoint' or '--resume'" run -m graphical chain.mtx --checkpoint-every 5
refuses 2 "The option '--checkpoint-every' must be a number from 0 to 1e+09, not '-1'." run chain.mtx --checkpoint-every=-1 --checkpoint a
refuses 2 "cannot be both the output and the checkpoint" run chain.mtx --checkpoint a.csv -o a.csv
for part in part_1.csv ./part_2.csv; do
    refuses 2 "part_${part: -5:1}.csv' cannot be both an output of --split and the checkpoint." \
        run chain.mtx -m nuts --chains 2 -o part.csv --split --checkpoint $part
done
refuses 2 "cannot be both the output and the checkpoint" run chain.mtx --checkpoint ./new.csv -o new.csv
ln -s . here
refuses 2 "cannot be both the output and the checkpoint" run chain.mtx --checkpoint here/new.csv -o new.csv
works run -m graphical chain.mtx -n 5 -t 5 -q --checkpoint ./way.ckp
works run -m graphical chain.mtx -n 5 -t 8 -q --checkpoint way.ckp --resume ./way.ckp
refuses 2 "Cannot write 'no/a': folder 'no/'" run chain.mtx --checkpoint no/a

# Two runs use one checkpoint, as when a job is requeued while the first still runs: the second names the process that
# holds the lock, and the file stays whole. When the first is killed, the next run takes over and removes the unfinished
# file.
"$SVMP" run -m graphical chain.mtx b.mtx -n 500 -t 100000000 --threads 1 -q --checkpoint two.svmp --checkpoint-every 0 >said 2>errors &
holder=$!
until [[ -s two.svmp ]] || ! kill -0 $holder 2>/dev/null; do sleep 0.02; done
kill -STOP $holder # in any folder
refuses 2 "The checkpoint 'two.svmp' is in use by process $holder on $(hostname). Wait until that run has ended, or end it." \
    run -m graphical chain.mtx b.mtx -n 500 -t 100000000 --threads 1 -q --resume two.svmp
refuses 2 "is in use by process $holder on" run -m graphical chain.mtx b.mtx -n 5 -t 5 -q --checkpoint two.svmp --force
kill -KILL $holder
wait $holder 2>/dev/null || true
printf 'svmp checkpoint\n' >two.svmp.$holder.new # half a checkpoint, named as the killed run would name it
"$SVMP" run -m graphical chain.mtx b.mtx -n 500 -t 100000000 --threads 1 -q --resume two.svmp >said 2>errors &
listening $!
kill -INT $!
wait $! || true
grep -q "^svmp: To continue: " errors || fail "$(cat errors)"
[[ $(ls -A | grep two) == two.svmp ]] || fail "left: $(ls -A | grep two)"

# Files that svmp did not write are left alone: the user's own FILE.new, and a file with the name of the lock.
echo mine >mine.svmp.new
echo mine >theirs.svmp.lock
works run -m graphical chain.mtx b.mtx -n 5 -t 100 -q --checkpoint mine.svmp --checkpoint-every 0
[[ $(cat mine.svmp.new) == mine ]] || fail "mine.svmp.new is gone"
refuses 2 "the lock file 'theirs.svmp.lock' already exists and was not written by svmp" run -m graphical chain.mtx b.mtx -n 5 -t 100 -q --checkpoint theirs.svmp
[[ $(cat theirs.svmp.lock) == mine ]]

# On a file system without locks the run continues with a warning. Other errors of locking end the run.
cat >locks.c <<'C'
#include <errno.h>
#include <stdlib.h>
int flock(int descriptor, int operation) {
    (void)descriptor, (void)operation;
    errno = atoi(getenv("FLOCK_ERROR"));
    return -1;
}
C
if ! grep -q -a __asan_init "$SVMP" && cc -shared -fPIC -o locks.so locks.c; then
    errno() { echo "#include <errno.h>
$1" | cc -E -P - | tail -1; }
    LD_PRELOAD=$PWD/locks.so FLOCK_ERROR=$(errno ENOLCK) "$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 5 -q --checkpoint unlocked.svmp >said 2>errors || fail "$(cat errors)"
    grep -q "^svmp: warning: the checkpoint 'unlocked.svmp' is not locked" errors || fail "$(cat errors)"
    [[ -s unlocked.svmp ]]
    ! LD_PRELOAD=$PWD/locks.so FLOCK_ERROR=$(errno EIO) "$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 5 -q --checkpoint failed.svmp >said 2>errors
    grep -q "^svmp: Cannot lock the checkpoint 'failed.svmp': " errors || fail "$(cat errors)"
    [[ ! -e failed.svmp ]]
fi

# A transport run whose moves ended at the iteration limit cannot be extended; one that converged need not be.
works run chain.mtx b.mtx -m transport -n 10 -t 40 -q --checkpoint limit.svmp
refuses 2 "finished its moves at its limit of 40 iterations and cannot be extended to 4000" run chain.mtx b.mtx -m transport -n 10 -t 4000 -q --resume limit.svmp
works run chain.mtx b.mtx -m transport -n 10 -t 40 -q --resume limit.svmp
works run chain.mtx b.mtx -m transport -n 10 -t 4000 -q --verify no --checkpoint rest.svmp -o at_rest.csv
works run chain.mtx b.mtx -m transport -n 10 -t 8000 -q --verify no --resume rest.svmp -o at_rest_longer.csv
works run chain.mtx b.mtx -m transport -n 10 -t 8000 -q --verify no -o at_rest_whole.csv
cmp <(rows at_rest_longer.csv) <(rows at_rest_whole.csv)
