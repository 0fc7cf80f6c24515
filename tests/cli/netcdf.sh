# svmp reads the same numbers from NetCDF as from CSV. tests/long/other_tools.sh opens such files with ArviZ and R.
. "$TESTS/cli/support.bash"
if ! "$SVMP" --version | grep -qx 'netcdf: yes'; then
    refuses 2 "this build has no NetCDF support" run chain.mtx -o a.nc
    echo "skipped: NetCDF was left out of this build" && exit 77
fi

nuts=(run chain.mtx b.mtx -m nuts --warmup 100 --draws 50 --chains 2 --seed 7)
works "${nuts[@]}" -o a.csv
works "${nuts[@]}" -o a.nc
works compare a.nc a.csv
shows '^MSE of E\[x\] +0$'
works summary a.csv
cp said csv
works summary a.nc
diff csv said
works run chain.mtx b.mtx -n 100 -t 10 --init a.nc -o from_nc.csv
works run chain.mtx b.mtx -n 100 -t 10 --init a.csv -o from_csv.csv
diff <(rows from_nc.csv) <(rows from_csv.csv)
refuses 2 "The file 'a.nc' already exists; use --force to overwrite it." "${nuts[@]}" -o a.nc
works "${nuts[@]}" -o a.nc --force --save x.2 --thin 5
works summary a.nc
shows '^2 chains of 10 draws of 1 variable'
head -c 3000 a.nc >cut.nc
refuses 2 "cut.nc: the file is truncated: it has 3000 of $(($(stat -c %s a.nc) - 40)) bytes." summary cut.nc # (40: the checksum)
: >empty.nc
refuses 2 "empty.nc: the file is empty." summary empty.nc
echo 'Not of this kind.' >text.nc
refuses 2 "text.nc: this is not a NetCDF file." summary text.nc
works run chain.mtx b.mtx -n 30 -t 20 -o stein.nc

if command -v ncdump >/dev/null; then
    ncdump -h stein.nc >header
    for line in 'group: posterior' 'chain = 1 ;' 'draw = 30 ;' 'double x(chain, draw, x_dim_0)' 'double lp(chain, draw)' \
        'double largest_phi(iteration)' 'int64 measured(measured)' 'double node_excess(node)' \
        ':inference_library = "svmp"' ':seed = "1"' ':created_at = "20'; do
        grep -qF -- "$line" header || fail "no '$line' in $(cat header)"
    done
else
    echo "ncdump is not here"
fi

# The checksum of a file that svmp wrote detects any changed byte. Files of other programs have none, and HDF5 may crash
# on a damaged one: svmp reports an error or reads numbers, but never crashes.
if command -v python3 >/dev/null; then
    works run chain.mtx -m nuts --warmup 20 --draws 20 --chains 2 -q -o f.nc
    python3 - "$SVMP" <<'PYTHON' || fail "damaged files"
import os, random, subprocess, sys

unwatched = {**os.environ, "LSAN_OPTIONS": "detect_leaks=0"}  # HDF5 leaks when it gives up on a file

def summary(damaged):
    with open("damaged.nc", "wb") as file:
        file.write(damaged)
    done = subprocess.run([sys.argv[1], "summary", "damaged.nc"], capture_output=True, text=True, errors="replace",
                          env=unwatched)
    if done.returncode not in (0, 2) or (done.returncode == 2 and not done.stderr.startswith("svmp: damaged.nc: ")):
        sys.exit(f"exit {done.returncode}: {done.stderr}")
    return done

own = open("f.nc", "rb").read()
random.seed(1)
mark = len(own) - 40  # the checksum begins here: a mark of 24 bytes, then size and sum
for place in [0, 8, mark - 1, mark + 24, mark + 32, len(own) - 1] + random.sample(range(mark), 40):
    damaged = bytearray(own)
    damaged[place] ^= 1 << random.randrange(8)
    done = summary(damaged)
    if "the file is damaged: the checksum does not match" not in done.stderr:
        sys.exit(f"byte {place} of {len(own)} was changed: {done.stderr or done.stdout}")

for k in range(60):  # mostly among the headers, where damage matters most
    damaged = bytearray(own[:mark])
    for _ in range(random.choice([1, 4])):
        damaged[random.randrange(random.choice([1500, 6000, mark]))] = random.choice([0, 255, random.randrange(256)])
    summary(damaged if k % 6 else damaged[: random.randrange(mark)])
PYTHON
fi

# A library that crashes on every file stands in for a version of HDF5 that crashes on some.
if command -v cc >/dev/null && ! grep -qa __asan_init "$SVMP"; then
    head -c -40 a.nc >foreign.nc
    cat >crash.c <<'END'
#include <stdlib.h>
long H5Fopen(const char *path, unsigned flags, long access); /* nc_open calls it */
long H5Fopen(const char *path, unsigned flags, long access) {
    (void)path, (void)flags, (void)access;
    abort();
}
END
    cc -shared -fPIC -o crash.so crash.c
    ulimit -c 0
    LD_PRELOAD=$PWD/crash.so refuses 2 "foreign.nc: the file is damaged: HDF5 crashes on it." summary foreign.nc
    works summary foreign.nc
fi
