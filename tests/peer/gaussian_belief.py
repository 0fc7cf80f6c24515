"""Gaussian belief propagation on ranges, to compare agents with: what robots use when they talk to neighbours alone.

    gaussian_belief.py REPLICATES SVMP SENSORS

Draws sensors and ranges from the model of examples/agents/ranges.bug again and again, and counts how many true
coordinates are within the 90 % regions of these answers: belief propagation, `local`, whose bits are those of agents,
and NUTS. A calibrated answer has 90 %.

A sensor is a node of two coordinates, with the prior's mean and variance; a range is a factor, linearised at the
current means. The message of factor f to node i is the Gaussian of f and of what node j hears from others, without j:

    L(f->i) = F_ii - F_ij (F_jj + B_j - L(f->j))^-1 F_ji,        B_j = prior + sum of L(f->j)

and so for the information vectors. Of 20 random starts it keeps the one of the highest density, which no node could tell; or it starts at
the truth.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIDE, SD, REACH, POST_REACH = 100.0, 0.5, 40.0, 70.0
POSTS = np.array([[0, 0], [SIDE, 0], [0, SIDE], [SIDE, SIDE]], float)
PRIOR_PRECISION = 12 / SIDE**2


def draw_problem(random, n):
    x = random.uniform(0, SIDE, (n, 2))
    pairs = [(i, j) for i in range(n) for j in range(i) if np.linalg.norm(x[i] - x[j]) < REACH]
    posts = [(i, p) for i in range(n) for p in range(4) if np.linalg.norm(x[i] - POSTS[p]) < POST_REACH]
    r = [np.linalg.norm(x[i] - x[j]) + SD * random.standard_normal() for i, j in pairs]
    s = [np.linalg.norm(x[i] - POSTS[p]) + SD * random.standard_normal() for i, p in posts]
    return x, pairs, posts, r, s


def direction(d):
    length = max(np.linalg.norm(d), 1e-9)
    return d / length, length


def misfit(x, problem):
    _, pairs, posts, r, s = problem
    terms = [np.linalg.norm(x[i] - x[j]) - v for (i, j), v in zip(pairs, r)]
    terms += [np.linalg.norm(x[i] - POSTS[p]) - v for (i, p), v in zip(posts, s)]
    return np.sum(np.square(terms)) / SD**2


def propagate(problem, start, rounds=200, damping=0.4):
    """Means and covariances of all nodes."""
    _, pairs, posts, r, s = problem
    n, means = len(start), start.copy()
    lam, eta = np.zeros((len(pairs), 2, 2, 2)), np.zeros((len(pairs), 2, 2))  # of factor, to its node 0 or 1
    for _ in range(rounds):
        precision = np.tile(PRIOR_PRECISION * np.eye(2), (n, 1, 1))
        vector = np.full((n, 2), PRIOR_PRECISION * SIDE / 2)
        for (i, p), value in zip(posts, s):
            e, length = direction(means[i] - POSTS[p])
            precision[i] += np.outer(e, e) / SD**2
            vector[i] += e * (value - length + e @ means[i]) / SD**2
        for k, pair in enumerate(pairs):
            for side, node in enumerate(pair):
                precision[node] += lam[k, side]
                vector[node] += eta[k, side]
        means = (1 - damping) * means + damping * np.array([np.linalg.solve(a, b) for a, b in zip(precision, vector)])
        old_lam, old_eta = lam.copy(), eta.copy()
        for k, ((i, j), value) in enumerate(zip(pairs, r)):
            e, length = direction(means[i] - means[j])
            block = np.outer(e, e) / SD**2
            right = (value - length + e @ (means[i] - means[j])) / SD**2
            for side, (node, other, sign) in enumerate(((i, j, 1), (j, i, -1))):
                cavity = precision[other] - old_lam[k, 1 - side] + block
                heard = vector[other] - old_eta[k, 1 - side] - sign * e * right
                gain = block @ np.linalg.inv(cavity)
                lam[k, side] = block - gain @ block
                new = sign * e * right + gain @ heard
                eta[k, side] = (1 - damping) * old_eta[k, side] + damping * new
    return means, np.array([np.linalg.inv(a) for a in precision])


def belief_regions(problem, starts):
    answers = []
    for start in starts:
        try:
            answers.append(propagate(problem, start))
        except np.linalg.LinAlgError:
            continue
    means, covariances = min(answers, key=lambda a: misfit(a[0], problem))
    sd = np.sqrt(np.array([np.diag(c) for c in covariances]))
    return means - 1.6449 * sd, means + 1.6449 * sd


def svmp_regions(svmp, model, folder, n, options):
    out = folder / "out.csv"
    subprocess.run([svmp, "run", model, folder / "ranges.R", *options, "--verify", "no", "-f", "-o", out], check=True,
                   capture_output=True)
    rows = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    names = rows[0].split(",")
    draws = np.array([[float(v) for v in row.split(",")] for row in rows[1:]])
    low, high = np.zeros((n, 2)), np.zeros((n, 2))
    for i in range(n):
        for w in range(2):
            low[i, w], high[i, w] = np.quantile(draws[:, names.index(f"x.{i + 1}.{w + 1}")], [0.05, 0.95])
    return low, high


def write_data(problem, folder):
    x, pairs, posts, r, s = problem
    columns = {"a": [i + 1 for i, _ in pairs], "b": [j + 1 for _, j in pairs], "r": r, "c": [i + 1 for i, _ in posts],
               "px": [POSTS[p][0] for _, p in posts], "py": [POSTS[p][1] for _, p in posts], "s": s}
    text = f"N <- {len(x)}\n" + "".join(f"{k} <- c({', '.join(repr(float(v)) for v in vs)})\n" for k, vs in columns.items())
    (folder / "ranges.R").write_text(text)


def main():
    replicates, svmp, n = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    model = Path(__file__).resolve().parents[2] / "examples/agents/ranges.bug"
    random = np.random.default_rng(20260)
    methods = {"local": ["-m", "local", "-n", "100", "-t", "1000", "--init", "gaussian"],
               "local, prior": ["-m", "local", "-n", "100", "-t", "1000", "--init", "prior"],
               "nuts": ["-m", "nuts"]}
    inside = {name: [] for name in ["belief propagation", "belief propagation from the truth", *methods]}
    width = {name: [] for name in inside}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(replicates):
            problem = draw_problem(random, n)
            if len(problem[1]) < 2 or len(problem[2]) < 2:
                continue
            write_data(problem, Path(name))
            starts = [random.uniform(0, SIDE, (n, 2)) for _ in range(20)]
            regions = {"belief propagation": belief_regions(problem, starts),
                       "belief propagation from the truth": belief_regions(problem, [problem[0]])}
            for method, options in methods.items():
                regions[method] = svmp_regions(svmp, model, Path(name), n, options)
            for method, (low, high) in regions.items():
                inside[method].append(np.mean((problem[0] >= low) & (problem[0] <= high)))
                width[method].append(np.mean(high - low))
    for method, shares in inside.items():
        error = np.std(shares) / np.sqrt(len(shares))
        print(f"{method}: {100 * np.mean(shares):.1f} % +- {100 * error:.1f} % within 90 % regions of mean width "
              f"{np.mean(width[method]):.2f} m, {len(shares)} problems")


main()
