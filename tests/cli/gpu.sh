# Runs on a GPU that is simulated (tests/unit/simulated_library.c): one that fails, and one without memory.
. "$TESTS/cli/support.bash"
export SVMP_CUDA=$BUILD/tests/simulated_device.so
[[ -e $SVMP_CUDA ]] || { echo "skipped: the simulated device is not built" && exit 77; }
run=(run chain.mtx b.mtx -m graphical -n 20 -t 100 --seed 3 -q --verify no --backend cuda)

# A device that fails is a failure of the run, not of its input. Without a checkpoint none is named.
SIMULATED_FAILURE=70 refuses 1 "svmp: The device a simulated device failed: it was unplugged." "${run[@]}" -o out.csv
[[ $(wc -l <errors) -eq 1 ]] || fail "$(cat errors)"
SIMULATED_FAILURE=70 refuses 1 "The device a simulated device failed" "${run[@]}" --checkpoint kept --checkpoint-every 100
[[ $(wc -l <errors) -eq 1 ]] || fail "$(cat errors)"

# With one, the run goes on from there to the particles of a run that was not broken off.
works "${run[@]}" -o whole.csv
status=0
SIMULATED_FAILURE=70 "$SVMP" "${run[@]}" -o broken.csv --checkpoint kept --checkpoint-every 0 >said 2>errors || status=$?
[[ $status -eq 1 && ! -e broken.csv ]] || fail "exit $status: $(cat errors)"
[[ $(head -1 errors) == "svmp: The device a simulated device failed: it was unplugged." ]] || fail "$(cat errors)"
grep -qE '^svmp: To continue: svmp run .*--resume kept --force chain\.mtx b\.mtx$' errors || fail "$(cat errors)"
read -ra again < <(sed -n 's/^svmp: To continue: svmp //p' errors)
works "${again[@]}"
rows whole.csv >one
rows broken.csv | cmp - one
