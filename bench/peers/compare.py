"""Compares svmp with other programs on the problems of problems.py; see bench/peers/run and --help.

Seconds are user and system CPU seconds of a program and its children, one thread, from start to end, without TMB's
compilation (20 to 40 s, once per model). A sampler runs one chain of 1,000 iterations of warm-up (JAGS: 1,000 of adaptation
and burn-in), then draws until its worst hyperparameter has 1,111 effective draws, whose mean has a standard error of 0.03
sd, or its budget is spent. "to 0.03 sd" is the time outside sampling plus the sampling time scaled by 1,111 / effective
draws. svmp's default method stops by itself: its seconds are those of the whole run, including the verdict. TMB has no
draws: its seconds are those of its whole run. Errors are actual errors of the worst hyperparameter: of its mean in sds of
the reference, and of its sd in per cent.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded: references are also computed on one thread
import argparse
import csv
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import problems as p
from sampler import effective, plain_name

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLACE = os.path.join(ROOT, "build", "peers")
REFERENCES = os.path.join(HERE, "references.json")
PYTHON = os.path.join(PLACE, "bin", "python")
R_LIBS = os.path.join(PLACE, "debian/usr/lib/R/site-library")
GOAL = 1111  # effective draws: a standard error of 0.03 sd
PEERS = {"svmp": "svmp", "nuts": "svmp, NUTS", "stanli": "stanli", "numpyro": "NumPyro", "jags": "JAGS", "tmb": "TMB"}
EXACT = ("stanli", "numpyro", "jags")
RIGHT = 0.25  # of a mean in sds, and of an sd as a share; runs may have few effective draws


def call(command, seconds):
    """Runs a program: (CPU seconds, megabytes, output, which is None if it failed or ran out of time)."""
    environment = dict(os.environ, R_LIBS=R_LIBS, PYTHONDONTWRITEBYTECODE="1",
                       **{name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    with open("said", "w") as said, open("errors", "w") as errors:  # run by `time`: a direct child would start with our memory
        failed = subprocess.run(["/usr/bin/time", "-o", "spent", "-f", "%U %S %M", *command], stdout=said, stderr=errors, env=environment,
                                preexec_fn=limit).returncode
    with open("spent") as file:
        user, system, memory = map(float, file.read().splitlines()[-1].split())
    with open("errors" if failed else "said") as file:
        text = file.read()
    if failed:
        print("over its budget" if user + system >= seconds - 1 else text[-300:], file=sys.stderr)
    return user + system, memory / 1024, None if failed else text


def columns(path, names):
    """These columns of a file of draws, and its comment lines."""
    with open(path) as file:
        lines = file.read().splitlines()
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    places = [plain_name(name) for name in rows[0]]
    draws = np.array([[float(row[places.index(name)]) for name in names] for row in rows[1:]])
    return draws, [line[1:].strip() for line in lines if line.startswith("#")]


def from_draws(draws, chain):
    found = {"mean": draws.mean(0).tolist(), "sd": draws.std(0, ddof=1).tolist(), "draws": len(draws)}
    if chain:
        square = (draws - draws.mean(0)) ** 2
        found.update(effective=effective(draws).tolist(), effective_square=effective(square).tolist())
    return found


def run_svmp(name, names, options):
    save = ",".join(dict.fromkeys(re.sub(r"(_\d+)+$", "", each).replace("_", ".") for each in names))
    nuts = options.peer == "nuts"
    command = [options.svmp, "run", p.model(name, "model.bug"), "data.json", "--threads", "1", "-q", "-f", "-o", "draws.csv",
               "--save", save, "--seed", str(options.seed)]
    command += "-m nuts --chains 1".split() if nuts else []
    if options.quick:
        command += "--warmup 100 --draws 100".split() if nuts else "-n 20 -t 60 --verify no".split()
    spent, memory, said = call(command, options.budget)
    found = {"seconds": spent, "memory": memory}
    if said is None:
        return found
    draws, comments = columns("draws.csv", names)
    verdict = [line.partition(" = ")[2] for line in comments if line.startswith("verdict = ")]
    found.update(from_draws(draws, nuts), note=(verdict or ["no verdict"])[0])
    if nuts:
        clock = {key: float(next(re.search(r"[\d.e+-]+", line.partition(":")[2] or line)[0] for line in comments if key in line))
                 for key in ("(Sampling)", "(Total)")}
        found["sampling"] = spent * clock["(Sampling)"] / max(clock["(Total)"], 1e-9)
        found["fixed"] = spent - found["sampling"]
    else:
        done = [line for line in comments if line.startswith("iterations done")]
        found["iterations"] = int(done[0].split()[-1]) if done else None
    return found


def run_sampler(name, names, options):
    program, file = {"stanli": ([PYTHON, HERE + "/with_stanli.py"], "model.stan"),
                     "numpyro": ([PYTHON, HERE + "/with_numpyro.py"], "model.py"),
                     "jags": (["Rscript", "--vanilla", HERE + "/with_jags.R"], "model.bug")}[options.peer]
    warmup = 100 if options.quick else 1000
    command = program + [p.model(name, file), " ".join(names)] + [str(n) for n in (warmup, options.goal, options.seed, int(0.9 * options.budget))]
    spent, memory, said = call(command, options.budget)
    found = {"seconds": spent, "memory": memory}
    if said is None:
        return found
    found.update(json.loads(said.splitlines()[-1]), **from_draws(columns("draws.csv", names)[0], True))
    found["fixed"] = spent - found["sampling"]
    return found


def run_tmb(name, names, options):
    kind = p.PROBLEMS[name].models or name
    made = os.path.join(PLACE, "tmb", kind)
    library = os.path.join(made, kind + ".so")
    if not os.path.exists(library):
        if options.quick:
            return {"seconds": 0, "memory": 0, "note": "skipped: not compiled yet"}
        os.makedirs(made, exist_ok=True)
        source = shutil.copy(p.model(name, "model.cpp"), os.path.join(made, kind + ".cpp"))
        if call(["Rscript", "--vanilla", "-e", "TMB::compile('%s', flags = '-O2 -w')" % source], 300)[2] is None:
            return {"seconds": 0, "memory": 0, "note": "not compiled"}
    spent, memory, said = call(["Rscript", "--vanilla", HERE + "/with_tmb.R", library, " ".join(names)], options.budget)
    found = {"seconds": spent, "memory": memory}
    if said is None:
        return found
    answer = np.genfromtxt("summary.csv", delimiter=",", names=True)
    return dict(found, mean=answer["mean"].tolist(), sd=answer["sd"].tolist(), **json.loads(said.splitlines()[-1]))


def present(peer, options):
    """Whether a program is installed."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": dict(os.environ, R_LIBS=R_LIBS)}
    works = lambda *command: shutil.which(command[0]) is not None and subprocess.run(command, **silent).returncode == 0
    if peer in ("svmp", "nuts"):
        return os.access(options.svmp, os.X_OK)
    if peer in ("stanli", "numpyro"):
        return works(PYTHON, "-c", "import numpy, " + peer)
    return works("Rscript", "--vanilla", "-e", "library(jsonlite); library(%s)" % {"jags": "rjags", "tmb": "TMB"}[peer])


def measure(name, options):
    """One run of one program on one problem, in a separate folder."""
    names = p.PROBLEMS[name].hyper.split()
    if options.peer == "jags" and name == "field":
        return {"seconds": 0, "memory": 0, "note": "JAGS has no factor()"}
    runner = {"svmp": run_svmp, "nuts": run_svmp, "tmb": run_tmb}.get(options.peer, run_sampler)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            p.write(name, options.quick)
            return runner(name, names, options)
        finally:
            os.chdir(here)


def errors(found, reference):
    """The worst error of a mean, in sds of the reference, and of an sd, as a share."""
    sd = np.array(reference["sd"])
    return np.array([(np.abs(np.array(found["mean"]) - reference["mean"]) / sd).max(), np.abs(np.array(found["sd"]) / sd - 1).max()])


def to_error(found):
    """Seconds to a standard error of 0.03 sd of the worst hyperparameter, or of the whole run if there is no chain."""
    if "effective" not in found:
        return found["seconds"]
    return found["fixed"] + found["sampling"] * GOAL / min(found["effective"])


def short(seconds):
    return "%.2g" % seconds if seconds < 10 else "%.0f" % seconds


def cell(found, reference):
    if found is None:
        return ""
    if "mean" not in found:
        return found.get("note") or "> %.0f s, unfinished" % found["seconds"]
    off = "%.2f, %.0f %%; " % tuple(errors(found, reference) * (1, 100)) if reference else ""
    note = found.get("note", "")
    return "%s s; %s%.0f MB%s" % (short(to_error(found)), off, found["memory"], "; " + note if note not in ("", "passed") else "")


def verdict(row, reference):
    """The speed of svmp's faster right answer relative to the fastest exact program with a right answer."""
    def best(peers):
        right = [(to_error(row[peer]), PEERS[peer]) for peer in peers if peer in row and "mean" in row[peer]
                 and (peer in EXACT or row[peer]["note"] == "passed")
                 and max(errors(row[peer], reference)) < RIGHT]
        return min(right, default=None)
    own, other = best(("svmp", "nuts")), best(EXACT)
    if not own or not other:
        return "without an answer that passed and is right" if not own and ("svmp" in row or "nuts" in row) else ""
    ratio = other[0] / own[0]
    return "%.1f times %s than %s" % (max(ratio, 1 / ratio), "faster" if ratio >= 1 else "slower", other[1])


def table(results, references):
    """Markdown: a row for each problem. Returns on how many problems svmp is faster."""
    print("| problem | " + " | ".join(PEERS.values()) + " | svmp is |")
    print("|---" * (len(PEERS) + 2) + "|")
    ahead, compared = 0, 0
    for name in p.PROBLEMS:
        row = {peer: results[name, peer] for peer in PEERS if (name, peer) in results}
        if not row:
            continue
        reference = references.get(name)
        said = verdict(row, reference) if reference else ""
        compared += "than" in said
        ahead += "faster" in said
        print("| %s | " % name.replace("_", " ") + " | ".join(cell(row.get(peer), reference) for peer in PEERS) + " | %s |" % said)
    print("\nA cell: seconds of the processor to 0.03 sd; the worst error of a mean, in sds, and of an sd; memory; what the run"
          "\nsays of itself unless that is \"passed\". svmp is ahead on %d of %d." % (ahead, compared))


def read(path):
    """The latest line of each problem and program."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        lines = [json.loads(line) for line in file if line.strip()]
    return {(line["problem"], line["peer"]): line for line in lines}


def make_reference(name, options):
    """By importance sampling if the latent variables can be integrated out, otherwise from runs of stanli with different seeds."""
    import integrate  # which needs scipy

    if name in integrate.CASES:
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            return integrate.reference(name, p.write(name, False), p.PROBLEMS[name].hyper.split())
    runs = []
    for seed in range(101, 101 + options.reference):
        options.seed = seed
        found = measure(name, options)
        if "mean" in found:
            runs.append(found)
            print("%s, seed %d: %d draws, effective %.0f, %.1f s" % (name, seed, found["draws"], min(found["effective"]), found["seconds"]), flush=True)
    weight = np.array([[run["draws"]] for run in runs]) / sum(run["draws"] for run in runs)
    means, sds = np.array([run["mean"] for run in runs]), np.array([run["sd"] for run in runs])
    mean = (weight * means).sum(0)
    sd = np.sqrt((weight * (sds**2 + (means - mean) ** 2)).sum(0))
    count, square = (np.sum([run[key] for run in runs], 0) for key in ("effective", "effective_square"))
    rounded = lambda values: [float("%.6g" % value) for value in values]
    return {"how": "stanli 0.24.0, NUTS: %d chains, %d draws after 1,000 iterations of warm-up each" % (len(runs), sum(run["draws"] for run in runs)),
            "names": p.PROBLEMS[name].hyper.split(), "mean": rounded(mean), "sd": rounded(sd),
            "mcse of mean": rounded(sd / np.sqrt(count)), "mcse of sd": rounded(sd / np.sqrt(2 * square))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--problems", default=",".join(p.PROBLEMS), help="names, with commas [all]")
    add("--peers", default=",".join(PEERS), help="names, with commas [%(default)s]")
    add("--budget", type=int, default=200, metavar="S", help="CPU seconds that a run may take [200]")
    add("--quick", action="store_true", help="small problems, nothing kept, no table")
    add("--again", action="store_true", help="measure what is in the results already")
    add("--table", action="store_true", help="measure nothing")
    add("--reference", type=int, default=0, metavar="N", help="make references, where sampling is needed with N runs of stanli each")
    add("--goal", type=int, default=GOAL, metavar="N", help="effective draws at which a sampler ends [1111]")
    add("--seed", type=int, default=1)
    add("--svmp", default=os.path.join(ROOT, os.environ.get("BUILD", "build/release"), "svmp"), help="the program [build/release/svmp]")
    add("--results", default=os.path.join(ROOT, "bench/results/peers.jsonl"), metavar="FILE", help="a line a run, appended [bench/results/peers.jsonl]")
    options = parser.parse_args()
    options.svmp = os.path.abspath(options.svmp)
    chosen, peers = options.problems.split(","), options.peers.split(",")
    if set(chosen) - set(p.PROBLEMS) or set(peers) - set(PEERS):
        sys.exit("known problems: %s; programs: %s" % (", ".join(p.PROBLEMS), ", ".join(PEERS)))
    references = {}
    if os.path.exists(REFERENCES):
        with open(REFERENCES) as file:
            references = json.load(file)
    if options.reference:
        options.peer = "stanli"
        for name in chosen:
            references[name] = make_reference(name, options)
            print("%-20s %s" % (name, references[name]["how"]), flush=True)
            with open(REFERENCES, "w") as file:
                file.write("{\n" + ",\n".join(' "%s": %s' % (key, json.dumps(references[key])) for key in sorted(references)) + "\n}\n")
        return
    if options.quick:
        options.goal, options.budget = 50, min(options.budget, 30)
        chosen = [name for name in chosen if name not in p.LENGTHS]
    here = [peer for peer in peers if present(peer, options)]
    if set(peers) - set(here):
        print("not here, skipped: %s" % ", ".join(sorted(set(peers) - set(here))))
    results, failed = read(options.results), []
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    for name in [] if options.table else chosen:
        for options.peer in here:
            if not options.quick and not options.again and (name, options.peer) in results:
                continue
            found = dict(measure(name, options), problem=name, peer=options.peer, budget=options.budget, seed=options.seed, commit=commit)
            print("%-20s %-8s %s" % (name, options.peer, cell(found, references.get(name) if not options.quick else None)), flush=True)
            if options.quick:
                failed += [name + " " + options.peer] if "mean" not in found and "note" not in found else []
                continue
            results[name, options.peer] = found
            with open(options.results, "a") as file:
                file.write(json.dumps(found) + "\n")
    if options.quick:
        sys.exit("failed: " + ", ".join(failed) if failed else 0)
    table(results, references)


main()
