# NetCDF: the same numbers as in CSV, for svmp itself. tests/cli/other_tools.sh opens such files with ArviZ and R.
. "$TESTS/cli/support.bash"
if ! "$SVMP" --version | grep -qx 'netcdf: yes'; then
    refuses 2 "needs NetCDF, which was left out of this build" run chain.mtx -o a.nc
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
refuses 2 "The file 'a.nc' exists already; --force overwrites it." "${nuts[@]}" -o a.nc
works "${nuts[@]}" -o a.nc --force --save x.2 --thin 5
works summary a.nc
shows '^2 chains of 10 draws of 1 variable'
head -c 3000 a.nc >cut.nc
refuses 2 "cut.nc: this cannot be read as NetCDF" summary cut.nc
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

# Files that others wrote, damaged here and there: an error or numbers, never a crash. (HDF5 1.10 does not survive the
# changes of rounds 33, 157, 237 and 368; every tenth round cuts the file short.)
if command -v python3 >/dev/null; then
    works run chain.mtx -m nuts --warmup 20 --draws 20 --chains 2 -q -o f.nc
    python3 - "$SVMP" <<'PYTHON' || fail "damaged files"
import random, subprocess, sys
whole = open("f.nc", "rb").read()[:-40]  # without svmp's checksum
random.seed(1)
seen = set()
for k in range(370):
    damaged = bytearray(whole)
    if k % 10 == 0:
        damaged = damaged[:random.randrange(len(damaged))]
    else:
        for _ in range(random.choice([1, 1, 1, 4])):
            damaged[random.randrange(len(damaged))] = random.choice([0, 255, random.randrange(256)])
    if k not in (33, 157, 237, 368) and k % 30:
        continue
    open("damaged.nc", "wb").write(damaged)
    done = subprocess.run([sys.argv[1], "summary", "damaged.nc"], capture_output=True, text=True)
    seen.add(done.returncode)
    if done.returncode not in (0, 2) or (done.returncode == 2 and not done.stderr.startswith("svmp: damaged.nc: ")):
        sys.exit(f"round {k}: exit {done.returncode}: {done.stderr}")
assert 2 in seen
PYTHON
fi
