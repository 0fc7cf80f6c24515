# svmp-agent, the static program of an agent: it has the bits of one process, also compiled for ARM and run by qemu, its
# file has less than 3 MB, and with ten sensors it takes less than 10 MB of memory.
. "$TESTS/cli/support.bash"
"$SVMP" --version | grep -qx 'sodium: yes' || { echo "skipped: this build has no libsodium" && exit 77; }
[[ -z ${SANITIZE:-} ]] || { echo "skipped: with sanitizers it is no small program" && exit 77; }
cmake --build "$BUILD" --target svmp-agent >log 2>&1 || fail "svmp-agent: $(tail -20 log)"
small=$BUILD/svmp-agent

# Two sites of ten sensors each, which know their ranges to each other and to four posts.
awk 'BEGIN {
    srand(3)
    n = 20
    for (i = 1; i <= n; i++) { x[i] = 100 * rand(); y[i] = 100 * rand() }
    for (i = 1; i <= n; i++) for (j = 1; j < i; j++) if ((d = sqrt((x[i] - x[j])^2 + (y[i] - y[j])^2)) < 35) { a = a "," i; b = b "," j; r = r "," d }
    for (i = 1; i <= n; i++) for (p = 0; p < 4; p++) {
        qx = 100 * (p % 2); qy = 100 * int(p / 2)
        if ((d = sqrt((x[i] - qx)^2 + (y[i] - qy)^2)) < 70) { c = c "," i; px = px "," qx; py = py "," qy; s = s "," d }
    }
    printf "N <- %d\na <- c(%s)\nb <- c(%s)\nr <- c(%s)\n", n, substr(a, 2), substr(b, 2), substr(r, 2)
    printf "c <- c(%s)\npx <- c(%s)\npy <- c(%s)\ns <- c(%s)\n", substr(c, 2), substr(px, 2), substr(py, 2), substr(s, 2)
}' >ranges.R
{ echo node,agent && for k in {1..10}; do echo "\"x[$k,*\",left"; done && echo '*,right'; } >groups.csv
options=(-n 100 -t 240 --draws 32)
model=$TESTS/../examples/agents/ranges.bug
works agents plan "$model" ranges.R --groups groups.csv "${options[@]}" -o swarm --port $((20000 + $$ % 20000))
works run "$model" ranges.R -m local "${options[@]}" --verify no -o one.csv

# with LEFT RIGHT: runs the two agents with these programs, joins their outputs, and sets `peak` to the memory of the left one.
with() {
    local left right now
    rm -rf swarm/*.state swarm/*.out
    $1 swarm/left.part 2>left.notes &
    left=$!
    $2 swarm/right.part 2>right.notes &
    right=$!
    peak=0
    while kill -0 $left 2>/dev/null; do
        now=$(awk '/VmHWM/ { print $2 }' /proc/$left/status 2>/dev/null || true)
        ((${now:-0} > peak)) && peak=$now
        sleep 0.02
    done
    wait $left || fail "$1: $(cat left.notes)"
    wait $right || fail "$2: $(cat right.notes)"
    works agents join swarm/{left,right}.out -o joined.csv -f
}
same() { diff <(rows one.csv) <(rows joined.csv) >differences || fail "$1: the joined file differs: $(head -4 differences)"; }

with "$small" "$small"
same svmp-agent
size=$(stat -c %s "$small")
((size < 3000000)) || fail "svmp-agent has $size bytes"
((peak > 500 && peak < 10000)) || fail "svmp-agent takes $peak kB"
echo "svmp-agent: $size bytes, $peak kB of memory"
with "$small" "$SVMP agent"
same "svmp-agent beside svmp"

# ARM, where a compiler, an emulator and libsodium for it are there (cmake/arm64.cmake).
sodium=${ARM64_SODIUM:-/usr}
for needed in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $needed >/dev/null || { echo "not tried on ARM: there is no $needed" && exit; }
done
[[ -e $sodium/lib/aarch64-linux-gnu/libsodium.a ]] || { echo "not tried on ARM: there is no libsodium-dev:arm64" && exit; }
arm=$BUILD/../arm64
{ cmake -G Ninja -S "$TESTS/.." -B "$arm" -DCMAKE_TOOLCHAIN_FILE="$(realpath "$TESTS/..")/cmake/arm64.cmake" -DARM64_SODIUM="$sodium" &&
    cmake --build "$arm" --target svmp-agent; } >log 2>&1 || fail "ARM: $(tail -20 log)"
with "qemu-aarch64 $arm/svmp-agent" "qemu-aarch64 $arm/svmp-agent"
cp joined.csv arm.csv
diff <(rows one.csv) <(rows arm.csv) >differences || echo "ARM rounds differently: $(grep -c '^>' differences) draws differ"
works compare one.csv arm.csv
with "qemu-aarch64 $arm/svmp-agent" "$small"
if grep -q 'rounds differently' left.notes right.notes; then
    works compare one.csv joined.csv
else
    same "ARM beside x86"
fi
echo "svmp-agent on ARM: $(stat -c %s "$arm/svmp-agent") bytes"
