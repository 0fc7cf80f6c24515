# The examples run and print their documented results.
. "$TESTS/cli/support.bash"
ln -s "$MODELS" models

"$BUILD/examples/hello" | tee hello.txt
grep -qxE 'x\.1: mean -?[0-9.]+, sd [0-9.]+' hello.txt
grep -q '^Passed: ' hello.txt

# A level that jumps from 0 to 5 between times 6 and 7 is found.
"$BUILD/examples/callback" | tee callback.txt
awk '{ level[NR] = $6 } END { for (t = 1; t <= 12; t++) if ((t <= 6) != (level[t] < 2.5)) exit 1; exit NR != 12 }' callback.txt

if "$SVMP" --version | grep -q '^cholmod: yes'; then
    "$BUILD/examples/grid" models/grid.mtx models/grid_b.mtx | tee grid.txt
    grep -qE '^With 50 particles graphical SVGD keeps [0-9]+ % of the .* vanilla SVGD [0-9]+ %\.$' grid.txt
else
    echo "the grid example is left out: it needs the exact answer, and this build has no CHOLMOD"
fi
status=0
"$BUILD/examples/grid" models/grid.mtx nowhere.mtx 2>error.txt || status=$?
[[ $status -eq 1 ]] && grep -q nowhere.mtx error.txt

# Several processes write the same file as one, only the first prints, and an idle process has no variables.
said='[0-9]+ of them moved by the first of N processes; all iterations done, discrepancy ratio [0-9.]+'
"$BUILD/examples/processes" alone.csv models/grid.mtx models/grid_b.mtx | tee processes.txt
grep -qxE "alone.csv: 100 variables, ${said/N/1}" processes.txt
"$BUILD/examples/processes" few.csv chain.mtx
if several_processes; then
    timeout 60 mpirun -n 2 "$BUILD/examples/processes" two.csv models/grid.mtx models/grid_b.mtx | tee processes.txt
    grep -qxE "two.csv: 100 variables, ${said/N/2}" processes.txt && [[ $(wc -l <processes.txt) -eq 1 ]]
    cmp alone.csv two.csv
    timeout 60 mpirun -n 4 "$BUILD/examples/processes" idle.csv chain.mtx
    cmp few.csv idle.csv
    status=0
    OMPI_MCA_orte_abort_on_non_zero_status=0 \
        timeout 60 mpirun -n 2 "$BUILD/examples/processes" no.csv nowhere.mtx >said 2>error.txt || status=$?
    [[ $(grep -c '^processes: .*nowhere.mtx' error.txt) -eq 1 && ! -e no.csv ]] || fail "exit $status: $(cat error.txt)"
fi
