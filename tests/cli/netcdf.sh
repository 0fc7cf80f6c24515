# NetCDF: the same numbers as in CSV, for svmp itself and for others. ArviZ is looked for in $ARVIZ_PYTHON, python3.
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
        ':inference_library = "svmp"' ':seed = "1"' ':created_at = "20'; do
        grep -qF -- "$line" header || fail "no '$line' in $(cat header)"
    done
else
    echo "ncdump is not here"
fi

for python in ${ARVIZ_PYTHON:-} python3; do
    "$python" -c 'import arviz, h5netcdf' 2>/dev/null || continue
    works "${nuts[@]}" -o a.nc --force
    "$python" - <<'PYTHON'
import arviz, csv, numpy
data = arviz.from_netcdf("a.nc")
rows = list(csv.DictReader(line for line in open("a.csv") if not line.startswith("#")))
assert data.posterior["x"].dims == ("chain", "draw", "x_dim_0")
assert data.posterior["x"].shape == (2, 50, 3)
for i in range(3):
    theirs = data.posterior["x"].sel(x_dim_0=i + 1).values.ravel()
    assert numpy.array_equal(theirs, [float(row[f"x.{i + 1}"]) for row in rows])
for there, here in {"lp": "lp__", "energy": "energy__", "tree_depth": "treedepth__", "n_steps": "n_leapfrog__",
                    "step_size": "stepsize__", "acceptance_rate": "accept_stat__", "diverging": "divergent__"}.items():
    assert numpy.array_equal(data.sample_stats[there].values.ravel(), [float(row[here]) for row in rows]), there
assert data.sample_stats["diverging"].dtype == bool
assert data.posterior.attrs["inference_library"] == "svmp"
print(arviz.summary(data))
PYTHON
    exit 0
done
echo "skipped, all but the last part: no python3 here has ArviZ and h5netcdf" && exit 77
