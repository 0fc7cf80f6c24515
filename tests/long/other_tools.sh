# Other programs open the files that svmp writes: ArviZ (NetCDF, and Stan CSV by from_cmdstan), R's rstan, posterior and
# ncdf4.
. "$TESTS/cli/support.bash"
absent=()

# Chains of scalars, a complete vector, a vector whose first element is data, and a matrix; some of y is missing.
cat >model.bug <<'END'
model {
  for (i in 1:3) {
    a[i] ~ dnorm(0, 1)
    for (j in 1:2) { m[i,j] ~ dnorm(a[i], 2) }
  }
  for (t in 2:4) { w[t] ~ dnorm(w[t-1], 1) }
  for (i in 1:2) { for (j in 1:3) { y[i,j] ~ dnorm(m[j,i] + w[4], 1) } }
  mu ~ dnorm(0, 1)
}
END
echo '{"w": [0.5, null, null, null], "y": [[1, 2, null], [-1, 0.25, 3]]}' >data.json
nuts=(run model.bug data.json -m nuts --warmup 100 --draws 50 --chains 2 --seed 7 -q)
works "${nuts[@]}" -o chains.csv
works "${nuts[@]}" -o split.csv --split
works "${nuts[@]}" -o thin.csv --split --thin 10
stein=(run model.bug data.json -n 40 -t 300 -q)
works "${stein[@]}" -o stein.csv
netcdf=
if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    netcdf=yes
    works "${nuts[@]}" -o chains.nc
    works "${stein[@]}" -o stein.nc
fi

# The chains of --split equal those of the single file.
diff <(rows chains.csv | cut -d, -f1-7,9- | tail -n +2) <(for c in 1 2; do rows split_$c.csv | tail -n +2; done)
works summary split_2.csv
shows '^1 chain of 50 draws'
refuses 2 "The file 'split_1.csv' already exists; use --force to overwrite it." "${nuts[@]}" -o split.csv --split
refuses 2 "The option '--split' needs '--output'." "${nuts[@]}" --split
refuses 2 "The option '--split' is for .csv files only; a .nc file keeps the chains separate anyway." "${nuts[@]}" --split -o new.nc
refuses 2 "The method 'transport' does not take --split, which is for samplers." "${stein[@]}" --split -o new.csv

if python=$(arviz_python); then
    NETCDF=$netcdf "$python" -W ignore - <<'PYTHON'
import csv, os
import arviz, numpy

def table(path):
    rows = list(csv.DictReader(line for line in open(path) if not line.startswith("#")))
    return {name: numpy.array([float(row[name]) for row in rows]) for name in rows[0]}

def series(path, name):
    line = next(line for line in open(path) if line.startswith(f"# {name}["))
    return numpy.array(line.split(" = ")[1].split(), float)

def same(what, a, b):
    assert numpy.array_equal(numpy.ravel(a), numpy.ravel(b), equal_nan=True), what

# from_cmdstan: one file per chain, and arrays in the shape of the model
mine, theirs = table("chains.csv"), arviz.from_cmdstan(["split_1.csv", "split_2.csv"])
assert theirs.posterior["m"].shape == (2, 50, 3, 2) and theirs.posterior["mu"].shape == (2, 50)
same("mu", theirs.posterior["mu"], mine["mu"])
for i in range(3):
    same("a", theirs.posterior["a"][:, :, i], mine[f"a.{i + 1}"])
    for j in range(2):
        same("m", theirs.posterior["m"][:, :, i, j], mine[f"m.{i + 1}.{j + 1}"])
same("lp", theirs.sample_stats["lp"], mine["lp__"])
assert theirs.sample_stats["diverging"].dtype == bool
assert arviz.from_cmdstan(["thin_1.csv", "thin_2.csv"]).posterior["a"].shape == (2, 5, 3)
same("particles", arviz.from_cmdstan("stein.csv").posterior["mu"], table("stein.csv")["mu"])
if not os.environ["NETCDF"]:
    raise SystemExit

# InferenceData: chains
data = arviz.from_netcdf("chains.nc")
assert data.groups() == ["posterior", "sample_stats", "observed_data"], data.groups()
assert data.posterior["m"].dims == ("chain", "draw", "m_dim_0", "m_dim_1")
for i in (1, 2, 3):
    for j in (1, 2):
        same("m", data.posterior["m"].sel(m_dim_0=i, m_dim_1=j), mine[f"m.{i}.{j}"])
for t in (2, 3, 4):  # the first element is data: the coordinates are those of the model
    same("w", data.posterior["w"].sel(w_dim_0=t), mine[f"w.{t}"])
for there, here in {"lp": "lp__", "energy": "energy__", "tree_depth": "treedepth__", "n_steps": "n_leapfrog__",
                    "step_size": "stepsize__", "acceptance_rate": "accept_stat__", "diverging": "divergent__"}.items():
    same(there, data.sample_stats[there], mine[here])
assert data.sample_stats["diverging"].dtype == bool
same("y", data.observed_data["y"], [[1, 2, numpy.nan], [-1, 0.25, 3]])
assert data.observed_data["y"].dims == ("y_dim_0", "y_dim_1") and float(data.observed_data["y"].sel(y_dim_0=2, y_dim_1=3)) == 3
assert data.posterior.attrs["method"] == "nuts" and data.posterior.attrs["inference_library"] == "svmp"
assert "r_hat" in arviz.summary(data).columns

# InferenceData: particles and their history
data = arviz.from_netcdf("stein.nc")
stats = data.sample_stats
for name, along in {"largest_phi": "iteration", "step_size": "iteration", "ksd": "measured", "ksd_ratio": "measured",
                    "bandwidth": "measured", "node_ksd_ratio": "node", "node_excess": "node"}.items():
    assert stats[name].dims == (along,), name
    same(name, stats[name], series("stein.csv", name))
assert list(stats["measured"].values) == [8, 16, 32, 64, 128, 256, 300]
assert list(stats["iteration"].values) == [*range(2, 301, 2)]
assert float(stats["ksd"].sel(measured=300)) < float(stats["ksd"].sel(measured=8))
print(arviz.summary(arviz.from_netcdf("chains.nc")).to_string())
PYTHON
else
    absent+=("ArviZ and h5netcdf, in python3 or build/arviz")
fi

cat >mine.R <<'END'
mine <- read.csv("chains.csv", comment.char = "#")
same <- function(what, a, b) if (!identical(as.numeric(a), as.numeric(b))) stop(what)
END
if has_r rstan; then
    cat mine.R - <<'END' >rstan.R
suppressMessages(library(rstan))
options(warn = 2) # a warning is an error
fit <- read_stan_csv(c("split_1.csv", "split_2.csv"))
x <- extract(fit, permuted = FALSE)
same("shape", dim(x)[1:2], c(50, 2))
for (name in c("mu", "a[2]", "m[3,1]", "w[4]", "y[1,3]", "lp__")) {
    column <- if (name == "lp__") name else gsub("\\.$", "", gsub("[][,]", ".", name))
    same(name, x[, , name], mine[[column]])
}
whole <- extract(fit, "m", permuted = TRUE)$m
same("dimensions of m", dim(whole), c(100, 3, 2))
same("what is known of w", extract(fit, "w")$w[, 1], rep(0.5, 100))
same("what is known of y", extract(fit, "y")$y[, 2, 3], rep(3, 100))
same("mean of m[3,1]", round(mean(whole[, 3, 1]), 12), round(mean(mine$m.3.1), 12))
same("divergences", get_num_divergent(fit), sum(mine$divergent__))
same("seconds", dim(get_elapsed_time(fit)), c(2, 2))
same("thinned", dim(extract(read_stan_csv(c("thin_1.csv", "thin_2.csv")), "mu", permuted = FALSE))[1], 5)
stein <- read.csv("stein.csv", comment.char = "#")
same("particles", extract(read_stan_csv("stein.csv"), "mu", permuted = FALSE), stein$mu)
END
    Rscript rstan.R >r.txt 2>&1 || fail "rstan: $(cat r.txt)"
else
    absent+=("rstan (r-cran-rstan)")
fi
if has_r posterior; then
    cat mine.R - <<'END' >posterior.R
suppressMessages(library(posterior))
draws <- as_draws_df(transform(mine, .chain = chain__))
same("chains", nchains(draws), 2)
same("draws", niterations(draws), 50)
same("mu", draws$mu, mine$mu)
stopifnot(is.finite(summarise_draws(draws, "rhat")$rhat[9]))
END
    Rscript posterior.R >r.txt 2>&1 || fail "posterior: $(cat r.txt)"
else
    absent+=("posterior (r-cran-posterior)")
fi
if [[ $netcdf ]] && has_r ncdf4; then
    cat mine.R - <<'END' >ncdf4.R
suppressMessages(library(ncdf4))
file <- nc_open("chains.nc")
m <- ncvar_get(file, "posterior/m") # dimensions are in reverse order: m_dim_1, m_dim_0, draw, chain
same("shape", dim(m), c(2, 3, 50, 2))
same("m.3.1", m[1, 3, , ], mine$m.3.1)
same("y", ncvar_get(file, "observed_data/y")[3, 2], 3)
same("seed", as.numeric(ncatt_get(file, 0, "seed")$value), 7)
END
    Rscript ncdf4.R >r.txt 2>&1 || fail "ncdf4: $(cat r.txt)"
else
    absent+=("ncdf4 (r-cran-ncdf4), or NetCDF itself")
fi
[[ ${#absent[@]} -eq 0 ]] || { printf 'skipped, for it is not here: %s\n' "${absent[@]}" && exit 77; }
