# Runs on a simulated GPU (tests/unit/simulated_library.c): one that fails, and one without memory.
. "$TESTS/cli/support.bash"
export SVMP_CUDA=$BUILD/tests/simulated_device.so
[[ -e $SVMP_CUDA ]] || { echo "skipped: the simulated device is not built" && exit 77; }
run=(run chain.mtx b.mtx -m graphical -n 20 -t 100 --seed 3 -q --verify no --backend cuda)

# A failing device is a failure of the run, not of its input. Without a checkpoint the message names none.
SIMULATED_FAILURE=70 refuses 1 "svmp: The device a simulated device failed: it was unplugged." "${run[@]}" -o out.csv
[[ $(wc -l <errors) -eq 1 ]] || fail "$(cat errors)"
SIMULATED_FAILURE=70 refuses 1 "The device a simulated device failed" "${run[@]}" --checkpoint kept --checkpoint-every 100
[[ $(wc -l <errors) -eq 1 ]] || fail "$(cat errors)"

# With a checkpoint the run continues to the particles of an uninterrupted run.
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

# auto: the device if its free memory suffices; otherwise the CPU, with a warning.
auto=(run chain.mtx b.mtx -m graphical -n 600 -t 2 --seed 3 -q --verify no --backend auto)
works "${auto[@]}" -o there.csv
grep -qxF '# backend = cuda' there.csv || fail "$(grep backend there.csv)"
"$SVMP" "${auto[@]/-q/--progress=none}" >said 2>errors || fail "$(cat errors)"
[[ $(cat errors) == "svmp: The backend is 'cuda'." ]] || fail "$(cat errors)"
SIMULATED_ROOM=0 "$SVMP" "${auto[@]/-q/--progress=none}" >said 2>errors || fail "$(cat errors)"
grep -qx "svmp: The backend is 'cpu-[a-z0-9]*': there is not enough free memory on the GPU\." errors || fail "$(cat errors)"
for room in 0 1000 16000; do
    SIMULATED_ROOM=$room "$SVMP" "${auto[@]}" -o here.csv -f >said 2>errors || fail "$room bytes: exit $?: $(cat errors)"
    [[ $(cat errors) == "svmp: warning: There is not enough free memory on a simulated device; the run uses the CPU." ]] ||
        fail "$room bytes: $(cat errors)"
    grep -q '^# backend = cpu' here.csv || fail "$(grep backend here.csv)"
done
works "${auto[@]/auto/cpu}" -o cpu.csv
rows cpu.csv >one
rows here.csv | cmp - one

# Methods without GPU code do not look for a GPU and run on the CPU, with the same bits.
for method in nuts mala local exact dpmp tpmp; do
    size=(-n 20 -t 20)
    case $method in nuts) size=(--warmup 20 --draws 20) ;; exact) size=(-n 20) ;; esac
    works run chain.mtx b.mtx -m $method "${size[@]}" -q -o cpu.csv -f
    SVMP_CUDA=/nowhere.so "$SVMP" run chain.mtx b.mtx -m $method "${size[@]}" -q --backend cuda -o here.csv -f >said 2>errors || fail "$(cat errors)"
    [[ $(cat errors) == "svmp: warning: The method '$method' computes nothing on a GPU; the run uses the CPU." ]] || fail "$(cat errors)"
    rows cpu.csv >one
    rows here.csv | cmp - one
    [[ $method == exact ]] && continue
    rm -f kept
    for continued in '--checkpoint kept --checkpoint-every 0' '--resume kept'; do
        SVMP_CUDA=/nowhere.so "$SVMP" run chain.mtx b.mtx -m $method "${size[@]}" -q --backend cuda $continued -o here.csv -f >said 2>errors ||
            fail "$(cat errors)"
    done
    rows here.csv | cmp - one
done
echo 'model { x ~ dgamma(2, 2) }' >gamma.bug
SVMP_CUDA=/nowhere.so refuses 2 "aussian" run gamma.bug -m exact --backend cuda
works run chain.mtx b.mtx -m transport -n 20 -t 20 -q --verify no --backend cuda -o there.csv -f
grep -qxF '# backend = cuda' there.csv || fail "$(grep backend there.csv)"

# A checkpoint records its backend. --resume with auto uses it; another backend is refused before any search for a GPU.
kept=(run chain.mtx b.mtx -m graphical -n 600 --seed 3 --verify no --progress none)
works "${kept[@]}" -t 2 --backend auto --checkpoint there.svmp -q
works "${kept[@]}" -t 2 --backend cpu --checkpoint here.svmp -q
SVMP_CUDA=/nowhere.so refuses 2 "The checkpoint 'here.svmp' has backend = cpu, but this run has backend = cuda. Continue with --backend cpu" \
    "${kept[@]}" -t 4 --backend cuda --resume here.svmp
refuses 2 "The checkpoint 'there.svmp' has backend = cuda, but this run has backend = cpu. Continue with --backend cuda, or start a new run from its particles (--init FILE). Write its particles where it ran (-o FILE)." \
    "${kept[@]}" -t 4 --backend cpu --resume there.svmp
SVMP_CUDA=/nowhere.so refuses 2 "The backend must be 'cuda', as in the checkpoint 'there.svmp'." "${kept[@]}" -t 4 --backend auto --resume there.svmp
for where in here there; do
    "$SVMP" "${kept[@]}" -t 4 --backend auto --resume $where.svmp -o resumed.csv -f >said 2>errors || fail "$(cat errors)"
    grep -qx "svmp: The backend is 'c[-a-z0-9]*': as in the checkpoint\." errors || fail "$(cat errors)"
    backend=$(sed -n 's/^# backend = //p' resumed.csv)
    [[ $where.$backend == there.cuda || $where.$backend == here.cpu* ]] || fail "$where: $backend"
    works "${kept[@]}" -t 4 --backend "${backend%-*}" -o straight.csv -f -q
    rows straight.csv >one
    rows resumed.csv | cmp - one
done
SIMULATED_ROOM=16000 refuses 1 "Out of memory on a simulated device: this run needs at least" "${auto[@]/auto/cuda}"
