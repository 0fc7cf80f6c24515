"""Runs one model in JAGS and in svmp, by the No-U-Turn sampler, and compares what both say of every unknown.

    jags.py SVMP MODEL DATA... [--warmup N] [--burn N] [--draws N] [--thin N] [--limit Z] [--seed N] [--init START] [--table] [--words]

Means and standard deviations must agree within --limit combined Monte Carlo standard errors. The errors are those of
batch means, so that a chain that mixes slowly gets a large one; ESS is the number of independent draws with the same
error. Data files are the model's own: JAGS is given the R dumps as they are, and JSON and CSV written as dumps.

A model may say in comments what else is compared, "# monitor: z, K", and which of JAGS' modules it needs, "# load: glm".
MODEL.inits, where it exists, has values that JAGS starts from; MODEL.jags is the same model in words that JAGS has.

--words says the model in JAGS' words where it uses one that JAGS does not have: dhalfcauchy, dinvgamma.
Without numpy: this is read by any Python 3.
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

CHAINS = 4
BATCHES = 25  # a chain


# ---- data ---------------------------------------------------------------------------------------


def dump_number(x):
    return "NA" if x is None else repr(x)


def dump_array(name, values):
    """Nested lists, row by row, as R's dump: column by column."""
    if not isinstance(values, list):
        return f'"{name}" <- {dump_number(values)}\n'
    extents, level = [], values
    while isinstance(level, list):
        extents.append(len(level))
        level = level[0] if level else None
    flat = []
    count = math.prod(extents)
    for k in range(count):
        at, rest = values, k
        for extent in extents:
            rest, here = divmod(rest, extent)
            at = at[here]
        flat.append(dump_number(at))
    vector = "c(" + ", ".join(flat) + ")"
    if len(extents) == 1:
        return f'"{name}" <- {vector}\n'
    return f'"{name}" <- structure({vector}, .Dim = c({", ".join(f"{e}L" for e in extents)}))\n'


def dump_of(path):
    """A JSON or CSV file as the text of an R dump."""
    with open(path, newline="") as file:
        if path.endswith(".json"):
            return "".join(dump_array(name, values) for name, values in json.load(file).items())
        header, *rows = list(csv.reader(file))
    number = lambda text: None if text.strip() in ("", "NA") else float(text)
    return "".join(dump_array(name.strip(), [number(row[k]) for row in rows]) for k, name in enumerate(header))


# ---- the two programs ---------------------------------------------------------------------------


def in_jags_words(text):
    """dhalfcauchy(s) is a t of one degree of freedom cut at 0; the inverse of a gamma is an inverse gamma."""
    text = re.sub(r"dhalfcauchy\(([^()]*)\)", r"dt(0, 1 / pow(\1, 2), 1) T(0,)", text)
    return re.sub(r"([\w.]+)(\[[^]]*\])? ~ dinvgamma\(([^()]*)\)", r"inverse.\1\2 ~ dgamma(\3)\n\1\2 <- 1 / inverse.\1\2", text)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def remarks(text, what):
    """The names behind "# what: a, b"."""
    return [name.strip() for names in re.findall(rf"^# {what}: (.*)$", text, re.M) for name in names.split(",")]


def own_start(model):
    path = model.removesuffix(".bug") + ".inits"
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def run_svmp(options, folder):
    """{name: [chain of draws, ...]}, names as JAGS spells them."""
    out = os.path.join(folder, "svmp.csv")
    with open(options.model) as file:
        monitors = ",".join(remarks(file.read(), "monitor"))
    status, said = run([options.svmp, "run", options.model, *options.data, *(["--monitor", monitors] if monitors else []), "-m", "nuts", "--chains", str(CHAINS), "--warmup",
                        str(options.warmup), "--draws", str(options.draws), "--seed", str(options.seed), "--init", options.init, "--quiet", "-o", out], folder)
    if status != 0:
        sys.exit(f"svmp: exit {status}\n{said}")
    with open(out) as file:
        lines = file.read().splitlines()
    rows = csv.reader(line for line in lines if not line.startswith("#"))
    header = next(rows)
    columns = list(zip(*rows))
    called = dict(line[9:].split(", in the model ") for line in lines if line.startswith("# column "))
    known = {name for line in lines if line.startswith("# known columns: ") for name in line[17:].split(",")}
    chain = columns[header.index("chain__")]
    chains = {}
    for name, column in zip(header, columns):
        if name.endswith("__") or name in known:
            continue
        base, dot, indices = name.partition(".")
        name = called.get(base, base) + dot + indices
        if name == "auxiliary.number":  # something to move if all unknowns are discrete
            continue
        split = {}
        for which, value in zip(chain, column):
            split.setdefault(which, []).append(float(value))
        chains[jags_name(name)] = list(split.values())
    return chains


def jags_name(name):
    """x.3.1 is x[3,1]; tau.c is tau.c"""
    base, indices = re.match(r"(.*?)((?:\.\d+)*)$", name).groups()
    return base + ("[" + indices[1:].replace(".", ",") + "]" if indices else "")


def run_jags(options, monitors, folder):
    own = options.model.removesuffix(".bug") + ".jags"
    with open(own if os.path.exists(own) else options.model) as file:
        text = file.read()
    with open(os.path.join(folder, "model.bug"), "w") as file:
        file.write(in_jags_words(text) if options.words else text)
    script = [f"load {module}" for module in remarks(text, "load")] + ['model in "model.bug"']
    for k, path in enumerate(options.data):
        if path.endswith((".json", ".csv")):
            with open(os.path.join(folder, f"data{k}.R"), "w") as file:
                file.write(dump_of(path))
            path = f"data{k}.R"
        script.append(f'data in "{path}"')
    script.append(f"compile, nchains({CHAINS})")
    for chain in range(1, CHAINS + 1):
        with open(os.path.join(folder, f"start{chain}.R"), "w") as file:
            file.write(own_start(options.model))
            file.write(f'".RNG.name" <- "base::Mersenne-Twister"\n".RNG.seed" <- {options.seed + chain}\n')
        script.append(f'parameters in "start{chain}.R", chain({chain})')
    script += ["initialize", f"update {options.burn}"]
    script += [f"monitor {name}, thin({options.thin})" for name in monitors]
    script += [f"update {options.draws * options.thin}", 'coda *, stem("coda")', "exit"]
    with open(os.path.join(folder, "script"), "w") as file:
        file.write("\n".join(script) + "\n")
    status, said = run(["jags", "script"], folder)
    if status != 0 or not os.path.exists(os.path.join(folder, "codaindex.txt")):
        sys.exit(f"JAGS: exit {status}\n{said}")
    return read_coda(folder)


def read_coda(folder):
    chains = {}
    with open(os.path.join(folder, "codaindex.txt")) as file:
        index = [line.split() for line in file]
    for chain in range(1, CHAINS + 1):
        with open(os.path.join(folder, f"codachain{chain}.txt")) as file:
            values = [float(line.split()[1]) for line in file]
        for name, first, last in index:
            chains.setdefault(name, []).append(values[int(first) - 1 : int(last)])
    return chains


# ---- statistics ---------------------------------------------------------------------------------


def mean(values):
    return math.fsum(values) / len(values)


def mean_and_error(chains):
    """The mean of all, and its standard error from the means of batches."""
    size = len(chains[0]) // BATCHES
    batches = [mean(chain[k * size : (k + 1) * size]) for chain in chains for k in range(BATCHES)]
    middle = mean(batches)
    return middle, math.sqrt(math.fsum((b - middle) ** 2 for b in batches) / (len(batches) - 1) / len(batches))


def moments(chains):
    """Mean, sd, their standard errors, and the effective sample size of the mean."""
    middle, error = mean_and_error(chains)
    variance, variance_error = mean_and_error([[(x - middle) ** 2 for x in chain] for chain in chains])
    sd = math.sqrt(variance)
    return middle, error, sd, variance_error / (2 * sd) if sd > 0 else 0, variance / error**2 if error > 0 else 0


def z_score(a, a_error, b, b_error):
    error = math.hypot(a_error, b_error)
    if error == 0:  # constant in both, such as a known element of a matrix
        return 0 if abs(a - b) <= 1e-9 * max(abs(a), abs(b)) else math.inf
    return (a - b) / error


def compare(ours, theirs, options):
    worst = 0
    fewest = math.inf
    if options.table:
        print(f"{'unknown':16}{'mean':>11}{'JAGS':>11}{'z':>7}{'sd':>11}{'JAGS':>11}{'z':>7}{'ESS':>8}{'JAGS':>8}")
    for name, chains in ours.items():
        if name not in theirs:
            sys.exit(f"JAGS does not report '{name}'; it reports {' '.join(theirs)}")
        m, me, s, se, n = moments(chains)
        jm, jme, js, jse, jn = moments(theirs[name])
        z, zs = z_score(m, me, jm, jme), z_score(s, se, js, jse)
        worst = max(worst, abs(z), abs(zs))
        fewest = min(fewest, n, jn)
        wrong = max(abs(z), abs(zs)) >= options.limit
        if options.table or wrong:
            print(f"{name:16}{m:11.4g}{jm:11.4g}{z:7.2f}{s:11.4g}{js:11.4g}{zs:7.2f}{n:8.0f}{jn:8.0f}{'  <--' if wrong else ''}")
    print(f"{os.path.basename(options.model):24}{len(ours):4} unknowns, largest |z| {worst:5.2f}, fewest effective draws {fewest:6.0f}")
    return worst < options.limit


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("svmp")
    parser.add_argument("model")
    parser.add_argument("data", nargs="*")
    parser.add_argument("--warmup", type=int, default=1000)
    parser.add_argument("--burn", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--thin", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--init", default="normal:1")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--words", action="store_true")
    options = parser.parse_args()
    options.svmp, options.model = os.path.abspath(options.svmp), os.path.abspath(options.model)
    options.data = [os.path.abspath(path) for path in options.data]
    with tempfile.TemporaryDirectory() as folder:
        ours = run_svmp(options, folder)
        monitors = sorted({name.split("[")[0] for name in ours})
        theirs = run_jags(options, monitors, folder)
    if not compare(ours, theirs, options):
        sys.exit(1)


main()
