# A full disk, files that may not grow, a read-only folder, a file that another program creates meanwhile: the run
# continues, existing files stay intact, and one sentence says what happened.
. "$TESTS/cli/support.bash"
set -m # jobs in the background shall not ignore SIGINT

grid=(run -m graphical "$MODELS/grid.mtx" -n 200 -q)
long=("${grid[@]}" -t 20)
no_room="No space left on device."

# fails SENTENCE COMMAND...: exit 1 and the sentence; the table of results is still printed.
fails() {
    local status=0 sentence=$1
    shift
    "$@" >said 2>errors || status=$?
    [[ $status -eq 1 ]] || fail "$*: exit $status: $(cat errors)"
    grep -qF -- "$sentence" errors || fail "$*: '$(cat errors)' instead of '$sentence'"
    shows '^x\.10 '
}

# Files that may not grow (ulimit -f), a limit of every system. No partial file is left.
mkdir small
for ending in csv nc; do
    [[ $ending == csv ]] || "$SVMP" --version | grep -qx 'netcdf: yes' || continue
    for blocks in 20 100; do
        fails "Cannot write 'small/a.$ending': File too large." \
            bash -c "ulimit -f $blocks; exec \"\$@\"" - "$SVMP" "${long[@]}" -o small/a.$ending
        shows '^90 more variables: use -o FILE to keep them all$'
    done
done
[[ -z $(ls -A small) ]] || fail "left behind: $(ls -A small)"

# The last complete checkpoint stays, the warning is printed once, and the result is unaffected.
works "${grid[@]}" -t 30 -o whole.csv
works "${grid[@]}" -t 10 --checkpoint kept
cp kept good
"$SVMP" --version | grep -qx 'netcdf: yes' && form=nc || form=csv
(ulimit -f 100 && "$SVMP" "${grid[@]}" -t 30 --resume kept --checkpoint-every 0 >said 2>errors) || fail "$(cat errors)"
[[ $(grep -c "warning: could not save the checkpoint after iteration 11: .*File too large\. The run continues; the last checkpoint is kept\.$" errors) -eq 1 ]] || fail "$(cat errors)"
[[ $(wc -l <errors) -eq 1 ]] || fail "$(cat errors)"
cmp kept good
works "${grid[@]}" -t 30 --resume kept -o resumed.csv
diff <(rows whole.csv) <(rows resumed.csv)

# A result that could not be written is in the checkpoint, and the message says how to get it.
fails "svmp: To continue: svmp run --method graphical --step fixed:0.1 --particles 200 --iterations 20 --output small/b.csv --quiet --checkpoint c --resume c --force " \
    bash -c 'ulimit -f 200; exec "$@"' - "$SVMP" "${long[@]}" --step fixed:0.1 --checkpoint c -o small/b.csv
eval "$(sed -n 's/^svmp: To continue: svmp /works /p' errors)"
[[ $(rows small/b.csv | wc -l) -eq 201 ]]

# Another program creates the file during the run: its file stays, and ours is not lost.
"$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 1000000000 -q -o mine.csv >said 2>errors &
listening $!
echo theirs >mine.csv
kill -TERM $!
status=0
wait $! || status=$?
[[ $status -eq 130 && $(cat mine.csv) == theirs ]] || fail "exit $status, mine.csv: $(head -1 mine.csv)"
grep -qxF "svmp: The file 'mine.csv' was created in the meantime and is left unchanged." errors || fail "$(cat errors)"
grep -qE "^svmp: Interrupted after [0-9]+ of 1000000000 iterations; the particles are in 'mine-2.csv'\.$" errors || fail "$(cat errors)"
[[ $(rows mine-2.csv | wc -l) -eq 6 ]]

# A disk of 64 kB and a read-only disk, if this user may mount them.
mkdir disk
if ! mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    echo "skipped, the part with a disk of its own: mounting is not allowed here" && exit 77
fi
trap 'umount disk' EXIT
for ending in csv $form; do fails "Cannot write 'disk/a.$ending': $no_room" "$SVMP" "${long[@]}" -o disk/a.$ending; done
works run -m graphical chain.mtx b.mtx -n 5 -t 5 -o disk/good.csv
cp disk/good.csv good.csv
fails "Cannot write 'disk/good.csv': $no_room" "$SVMP" "${long[@]}" --force -o disk/good.csv
cmp disk/good.csv good.csv
[[ $(ls -A disk) == good.csv ]] || fail "left behind: $(ls -A disk)"
refuses 1 "$no_room" report good.csv chain.mtx -o disk/page.html
mount -o remount,ro disk
refuses 2 "Cannot write 'disk/new.csv': folder 'disk/': Read-only file system." run chain.mtx -o disk/new.csv
refuses 2 "Read-only file system." run chain.mtx --checkpoint disk/c
