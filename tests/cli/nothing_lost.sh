# Cases that could lose or damage results: outputs that are inputs, truncated files, pipes without a reader, names that
# a file cannot hold, a disk that fills between two files.
. "$TESTS/cli/support.bash"
set -m # jobs in the background shall not ignore SIGINT

# --force replaces results, never a file that the run reads: the model, the data, the start, another run's checkpoint.
works run -m graphical chain.mtx b.mtx -n 5 -t 5 -q -o start.csv --checkpoint c.svmp
cp chain.mtx kept.mtx
cp start.csv kept.csv
cp c.svmp kept.svmp
ln -s start.csv link.csv
printf 'model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }\n mu ~ dnorm(0, 1) }\n' >m.bug
printf 'y\n1\n2\n3\n' >data.csv
cp data.csv kept_data.csv
for output in start.csv ./start.csv link.csv; do
    refuses 2 "The output '$output' would overwrite 'start.csv', which this command reads; choose another file." \
        run -m graphical chain.mtx b.mtx -n 5 -t 5 -q --init start.csv -o $output -f
done
refuses 2 "would overwrite 'data.csv', which this command reads" run -m graphical m.bug data.csv -n 5 -t 5 -q -o data.csv -f
refuses 2 "would overwrite 'chain.mtx', which this command reads" run -m graphical chain.mtx -n 5 -t 5 -q --checkpoint chain.mtx -f
refuses 2 "would overwrite 'start.csv', which this command reads" run -m graphical chain.mtx -n 5 -t 5 -q --init start.csv --checkpoint start.csv -f
cp c.svmp c.csv
refuses 2 "would overwrite 'c.csv', which this command reads" run -m graphical chain.mtx b.mtx -n 5 -t 9 -q --resume c.csv --checkpoint d.svmp -o c.csv -f
refuses 2 "would overwrite 'chain.mtx', which this command reads" graph chain.mtx -o chain.mtx -f
works run chain.mtx -m nuts --chains 2 --warmup 20 --draws 20 -q -o s.csv --split
refuses 2 "The output 's_1.csv' would overwrite 's_1.csv', which this command reads" \
    run chain.mtx -m nuts --chains 2 --warmup 20 --draws 20 -q --init s_1.csv -o s.csv --split -f
cmp chain.mtx kept.mtx
cmp start.csv kept.csv
cmp data.csv kept_data.csv
works run -m graphical chain.mtx b.mtx -n 5 -t 9 -q --resume c.svmp -o start.csv -f # its own checkpoint and a result may be replaced

# The result is written before the cross-examination, so killing the examination does not lose it.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 5000, 5000, 9999; for (i = 1; i <= 5000; i++) print i, i, 2
    for (i = 2; i <= 5000; i++) print i, i - 1, -0.9 }' >five.mtx # whose cross-examination takes many seconds
"$SVMP" run -m graphical five.mtx -n 100 -t 2 -q --verify yes -o examined.csv >said 2>errors &
run=$!
until [[ -e examined.csv ]]; do kill -0 $run && sleep 0.01 || fail "no file before the end: $(cat errors)"; done
kill -KILL $run
wait $run || true
works summary examined.csv
grep -q 'The file records no verdict' said || fail "the examination had ended: $(cat said)"
[[ $(rows examined.csv | wc -l) -eq 101 ]]
works run -m graphical chain.mtx -n 5 -t 5 -q -o whole.csv # then replaced by the file with the verdict
grep -q '^# verdict = ' whole.csv && [[ $(ls whole*.csv) == whole.csv ]] || fail "$(ls) $(grep verdict whole.csv)"

# A start from a pipe or a FIFO is read once.
works run -m graphical chain.mtx b.mtx -t 5 -q --init kept.csv -o from_file.csv
works run -m graphical chain.mtx b.mtx -t 5 -q --init <(cat kept.csv) -o from_pipe.csv
mkfifo fifo.csv
cat kept.csv >fifo.csv &
works run -m graphical chain.mtx b.mtx -t 5 -q --init fifo.csv -o from_fifo.csv
diff <(rows from_file.csv) <(rows from_pipe.csv)
diff <(rows from_file.csv) <(rows from_fifo.csv)

# A pipe without a reader does not keep the run from ending.
"$SVMP" run -m graphical chain.mtx b.mtx -n 5 -t 5 -q -o fifo.csv >said 2>errors &
run=$!
listening $run
asleep() { grep -q '^State:[[:space:]]*S' "/proc/$run/status"; }
until asleep && sleep 0.1 && asleep; do sleep 0.02; done # the iterations are done: an interrupted run still writes
kill -TERM $run
for k in {1..200}; do
    kill -0 $run 2>/dev/null || break
    [[ $k -lt 200 ]] || { kill -KILL $run && fail "SIGTERM is ignored while the pipe has no reader"; }
    sleep 0.05
done
status=0
wait $run || status=$?
[[ $status -eq 130 ]] || fail "exit $status: $(cat errors)"
grep -qx "svmp: Interrupted: nothing was written to 'fifo.csv', because no process reads from it." errors || fail "$(cat errors)"
cat fifo.csv >read.csv &
works run -m graphical chain.mtx b.mtx -n 5 -t 5 -q -o fifo.csv
wait
[[ $(rows read.csv | wc -l) -eq 6 ]]

# A file truncated anywhere, even within its last number, which would be read as a shorter one.
size=$(wc -c <kept.csv)
for cut in 1 2 3 5 40; do
    head -c $((size - cut)) kept.csv >cut.csv
    refuses 2 "cut.csv:" summary cut.csv
    refuses 2 "cut.csv:" run -m graphical chain.mtx b.mtx -q --init cut.csv
done
head -c -1 kept.csv >cut.csv
refuses 2 "the last line has no newline, so its last number may be truncated." summary cut.csv
grep -v '^#' kept.csv | head -c -1 >plain.csv # written by other programs, which need not end the last line
works summary plain.csv

# Results that no file could hold are reported before the run, and by check.
printf 'model { a__ ~ dnorm(0, 1) }\n' >names.bug
for command in check run; do
    "$SVMP" $command names.bug >said 2>errors && fail "$command accepts a__"
    grep -q "^names.bug:1:9: error: 'a__' ends in '__', which is reserved" errors || fail "$command: $(cat errors)"
done
printf 'model { b ~ dnorm(0, 1)\n a__ <- 2 * b }\n' >names.bug
works check names.bug
refuses 2 "Cannot monitor 'a__': its name ends in '__'" run -m graphical names.bug -n 5 -t 5 -q --monitor a__

if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    printf 'model { chain ~ dnorm(0, 1)\n draw <- 2 * chain }\n' >names.bug
    refuses 2 "The file 'n.nc' cannot have a variable 'chain': a dimension has that name." run -m graphical names.bug -n 5 -t 5 -q -o n.nc
    printf 'model { a ~ dnorm(0, 1)\n draw <- 2 * a }\n' >names.bug
    works run -m graphical names.bug -n 5 -t 5 -q -o n.nc
    refuses 2 "cannot have a variable 'draw'" run -m graphical names.bug -n 5 -t 5 -q --monitor draw -o m.nc

    # A damaged file without a checksum, which may crash HDF5, is first read in a child process, also as a start.
    works run -m graphical chain.mtx b.mtx -n 5 -t 5 -q -o a.nc
    works run -m graphical chain.mtx b.mtx -t 5 -q --init a.nc
    mkfifo fifo.nc
    refuses 2 "'fifo.nc' is a pipe; NetCDF can be read from a file only." run -m graphical chain.mtx b.mtx --init fifo.nc
    if command -v cc >/dev/null && ! grep -qa __asan_init "$SVMP"; then
        head -c -40 a.nc >foreign.nc
        printf '%s\n' '#include <stdlib.h>' 'long H5Fopen(const char *path, unsigned flags, long access);' \
            'long H5Fopen(const char *path, unsigned flags, long access) { (void)path, (void)flags, (void)access; abort(); }' >crash.c
        cc -shared -fPIC -o crash.so crash.c
        ulimit -c 0
        LD_PRELOAD=$PWD/crash.so refuses 2 "foreign.nc: the file is damaged: HDF5 crashes on it." \
            run -m graphical chain.mtx b.mtx -t 5 -q --init foreign.nc
        LD_PRELOAD=$PWD/crash.so refuses 2 "foreign.nc: the file is damaged: HDF5 crashes on it." \
            run -m graphical chain.mtx b.mtx -t 5 -q --init gaussian:foreign.nc
        works run -m graphical chain.mtx b.mtx -t 5 -q --init gaussian:foreign.nc
        works run -m graphical chain.mtx b.mtx -t 5 -q --init foreign.nc
    fi
fi

# The disk fills after some files of --split: the error names those, and svmp does not suggest reading all.
printf '%%%%MatrixMarket matrix coordinate real symmetric\n50 50 50\n' >wide.mtx
for i in {1..50}; do echo "$i $i 1"; done >>wide.mtx
mkdir disk
if ! mount -t tmpfs -o size=300k none disk 2>/dev/null; then
    echo "skipped, the part with a disk of its own: mounting is not allowed here" && exit 77
fi
trap 'umount disk' EXIT
status=0
"$SVMP" run wide.mtx -m nuts --chains 4 --warmup 50 --draws 200 -q --split -o disk/w.csv >said 2>errors || status=$?
[[ $status -eq 1 ]] || fail "exit $status: $(cat errors)"
written=$(ls disk | wc -l)
[[ $written -gt 0 && $written -lt 4 ]] || fail "$written files on the small disk"
grep -qxF "svmp: Only $written of the 4 chains were written." errors || fail "$(cat errors)"
grep -q 'svmp summary' said && fail "advises to read: $(grep 'svmp summary' said)"
shows '^40 more variables: use -o FILE to keep them all$'
