# Stan's tools open the CSV of every model of models/, for all names and for arrays that are partly data: rstan's
# read_stan_csv and extract(), posterior, ArviZ's from_cmdstan. svmp itself restores the model's names.
. "$TESTS/cli/support.bash"
absent=()

# The data of a model of models/.
data_of() {
    case $1 in
    crowd_log) echo crowd.csv crowd.json ;;
    schools_centred) echo schools.R ;;
    *) (cd "$MODELS" && ls "$1".json "$1".csv "$1".R 2>/dev/null) ;;
    esac
}
has() { "$SVMP" --version | grep -qx "$1: yes"; }

models=()
for model in "$MODELS"/*.bug; do
    name=$(basename "$model" .bug)
    [[ $(data_of "$name") == *.json* ]] && ! has jansson && continue
    models+=("$name")
    arguments=(run "$model" $(for data in $(data_of "$name"); do echo "$MODELS/$data"; done))
    arguments+=(-m nuts --warmup 30 --draws 8 --chains 2 --seed 3 -q)
    for ending in csv $(has netcdf && echo nc); do
        "$SVMP" "${arguments[@]}" -o "$name.$ending" >said 2>errors || fail "$name: $(cat errors)"
    done
    "$SVMP" "${arguments[@]}" -o "$name.csv" --split >said 2>errors || fail "$name: $(cat errors)"
    [[ $(rows "$name.csv" | head -1) =~ (^|,)[A-Za-z0-9_]+(\.[0-9]+)*(,[A-Za-z0-9_]+(\.[0-9]+)*)*$ ]] ||
        fail "$name: $(rows "$name.csv" | head -1)"
    # svmp reads its file with the model's names: as the start of another run and as a reference.
    works run "${arguments[@]:1:$((${#arguments[@]} - 12))}" --init "$name.csv" -t 0 -q
    works compare "$name.csv" "${name}.$(has netcdf && echo nc || echo csv)"
    shows '^MSE of E.x.  *0$'
done
((${#models[@]} > 5)) || fail "hardly any model: ${models[*]}"
printf '%s\n' "${models[@]}" >models

# A model with the hardest names: a.b, a_b and a.b_2 together; dots in arrays; arrays that are partly known; a name that
# ends like a column of Stan's own, but for the dot.
cat >names.bug <<'END'
model {
  a.b ~ dnorm(0, 1)
  a_b ~ dnorm(10, 1)
  a_b_2 ~ dnorm(20, 1)
  for (i in 1:3) { s.u[i] ~ dnorm(30 + i, 1)
    for (j in 1:2) { s_u[i,j] ~ dnorm(40 + i + 10 * j, 1) } }
  for (i in 1:4) { k.n[i] ~ dnorm(70, 1) }
}
END
echo '{"k.n": [null, 71, null, 73], "s_u": [[1.5, 2.5], [null, null], [null, null]]}' >names.json
if has jansson; then
    worst=(names.bug names.json -m nuts --warmup 30 --draws 8 --chains 2 -q)
    works run "${worst[@]}" -o names.csv
    works run "${worst[@]}" -o names.csv --split
    has netcdf && works run "${worst[@]}" -o names.nc
    echo names >>models
    grep -qx '# column a_b_3, in the model a.b' names.csv || fail "names: $(grep column names.csv)"
    grep -qx '# column s_u_2, in the model s.u' names.csv || fail "names: $(grep column names.csv)"
    grep -qx '# known columns: s_u.1.1,s_u.1.2,k_n.2,k_n.4' names.csv || fail "names: $(grep column names.csv)"
    works summary names.csv
    [[ $(awk '$1 ~ /^[as]/ && NF > 5 { printf "%s ", $1 }' said) == \
        "a.b a_b a_b_2 s.u.1 s.u.2 s.u.3 s_u.2.1 s_u.2.2 s_u.3.1 s_u.3.2 " ]] || fail "names: $(cat said)"
    works summary names.csv --variables k.n
    # A part of an array stands alone.
    works run "${worst[@]}" -o part.csv --save s_u.3.2,k.n
    rows part.csv | head -1 | grep -q 's_u_3_2,k_n.1,k_n.2,k_n.3,k_n.4$' || fail "part: $(rows part.csv | head -1)"
    works summary part.csv
    shows '^s_u.3.2 '
    # Columns that are declared as known are constant.
    sed 's/,71,/,71.5,/;t' names.csv | sed '0,/,71.5,/s//,71,/' >changed.csv
    refuses 2 "the column 'k.n.2' is declared known but is not constant" summary changed.csv
fi

if python=$(arviz_python); then
    "$python" -W ignore - <<'PYTHON'
import os
import arviz, numpy

# the names of the columns in the model, from the comments
def model_names(path):
    lines = [line[9:].rstrip("\n").split(", in the model ") for line in open(path) if line.startswith("# column ")]
    return {model: file for file, model in lines}

for name in open("models").read().split():
    stan = arviz.from_cmdstan([f"{name}_1.csv", f"{name}_2.csv"])
    assert stan.sample_stats["lp"].shape == (2, 8), name
    for variable in stan.posterior:
        assert numpy.isfinite(stan.posterior[variable]).all(), (name, variable)
    if not os.path.exists(f"{name}.nc"):
        continue
    exact, called = arviz.from_netcdf(f"{name}.nc"), model_names(f"{name}_1.csv")
    for variable in exact.posterior:  # "x" with coordinates, or "y.4.5" if the array is not rectangular
        base, index = variable, []
        while base.rpartition(".")[2].isdigit():
            base, _, last = base.rpartition(".")
            index.insert(0, last)
        here, there = exact.posterior[variable], stan.posterior[called.get(base, base)].values
        places = [here.coords[d].values - 1 for d in here.dims[2:]] if here.ndim > 2 else [[int(i) - 1] for i in index]
        assert there.ndim == 2 + len(places), (name, variable, there.shape)
        there = there[numpy.ix_([0, 1], range(8), *places)]
        assert numpy.array_equal(here.values.ravel(), there.ravel()), (name, variable)
    for variable in exact.get("observed_data", {}):  # the known part of arrays that are partly unknown
        data = exact.observed_data[variable].values
        if numpy.isnan(data).any():
            there = stan.posterior[called.get(variable, variable)].values
            assert there.shape[2:] == data.shape, (name, variable)
            known = ~numpy.isnan(data)
            assert (there[:, :, known] == data[known]).all(), (name, variable)
PYTHON
else
    absent+=("ArviZ and h5netcdf, in python3 or build/arviz")
fi

if has_r rstan; then
    cat >rstan.R <<'END'
suppressMessages(library(rstan))
options(warn = 2) # a warning is an error
for (name in readLines("models")) {
    fit <- read_stan_csv(paste0(name, c("_1.csv", "_2.csv")))
    mine <- read.csv(paste0(name, ".csv"), comment.char = "#")
    columns <- setdiff(names(mine), "chain__")
    flat <- extract(fit, permuted = FALSE)
    whole <- extract(fit) # every array in its shape
    for (column in grep("__$", columns, value = TRUE, invert = TRUE)) {
        words <- strsplit(column, ".", fixed = TRUE)[[1]]
        indices <- as.integer(words[-1])
        stan <- if (length(indices)) sprintf("%s[%s]", words[1], paste(indices, collapse = ",")) else words[1]
        if (!identical(as.numeric(flat[, , stan]), as.numeric(mine[[column]]))) stop(name, ": ", column)
        array <- whole[[words[1]]]
        values <- do.call(`[`, c(list(array), list(TRUE), as.list(indices)))
        if (!identical(sort(as.numeric(values)), sort(as.numeric(mine[[column]])))) stop(name, ": extract: ", column)
    }
}
END
    Rscript rstan.R >r.txt 2>&1 || fail "rstan: $(cat r.txt)"
else
    absent+=("rstan (r-cran-rstan)")
fi
if has_r posterior; then
    cat >posterior.R <<'END'
suppressMessages(library(posterior))
for (name in readLines("models")) {
    mine <- read.csv(paste0(name, ".csv"), comment.char = "#")
    draws <- as_draws_df(transform(mine, .chain = chain__))
    stopifnot(nchains(draws) == 2, niterations(draws) == 8, nrow(summarise_draws(draws, "mean")) == ncol(mine))
}
END
    Rscript posterior.R >r.txt 2>&1 || fail "posterior: $(cat r.txt)"
else
    absent+=("posterior (r-cran-posterior)")
fi
[[ ${#absent[@]} -eq 0 ]] || { printf 'skipped, for it is not here: %s\n' "${absent[@]}" && exit 77; }
