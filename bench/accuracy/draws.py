"""Shared by the programs for the table: the list of models, files of draws and of references, moments and their errors."""
import csv
import os
from statistics import NormalDist

import numpy as np

from scales import unconstrained

folder = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(folder))
cache = os.path.join(root, "build", "accuracy")  # draws of the references, if make_reference has run


def table():
    """The rows of table.csv: name, model, data (a list of files), quick, and how the reference is made."""
    with open(os.path.join(folder, "table.csv")) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for row in rows:
        row["model"] = os.path.join(root, row["model"])
        row["data"] = [os.path.join(root, path) for path in row["data"].split()]
        row["twin"] = os.path.join(root, row["twin"]) if row["twin"] else ""
        row["reference"] = os.path.join(folder, "reference", row["name"] + ".csv")
    return rows


def read_draws(path):
    """A file that svmp wrote: (the names of its unknowns, draws[row, variable], chain of each row)."""
    renamed, known, header = {}, set(), None
    with open(path) as file:
        while header is None:
            line = file.readline().rstrip("\n")
            if line.startswith("# column ") and ", in the model " in line:
                column, name = line[len("# column "):].split(", in the model ", 1)
                renamed[column] = name
            elif line.startswith("# known columns: "):
                known = set(line[len("# known columns: "):].split(","))
            elif not line.startswith("#"):
                header = line.split(",")
        kept = [k for k, column in enumerate(header) if not column.endswith("__") and column not in known]
        chain = header.index("chain__") if "chain__" in header else None
        rows = np.loadtxt(file, delimiter=",", ndmin=2, usecols=kept + ([chain] if chain is not None else []))
    chains = rows[:, -1].astype(int) if chain is not None else np.ones(len(rows), dtype=int)
    return [model_name(header[k], renamed) for k in kept], rows[:, :len(kept)], chains


def model_name(column, renamed):
    """A column has another name if its name, or that of its array, contains a dot: tau_y.2 for tau.y[2]."""
    array, _, subscripts = column.partition(".")
    return renamed.get(column, renamed.get(array, array) + ("." + subscripts if subscripts else ""))


# Effective sample sizes and R-hat as defined by Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021)

def split(x, chains):
    """The halves of the chains of one variable, one per row."""
    parts = []
    for c in np.unique(chains):
        series = x[chains == c]
        half = len(series) // 2
        parts += [series[:half], series[len(series) - half:]]
    return np.array(parts)


def effective(parts):
    """The effective sample size for the mean, from autocovariances by Geyer's initial positive sequence."""
    m, n = parts.shape
    centred = parts - parts.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, size, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + parts.mean(axis=1).var(ddof=1)
    if not total > 0:
        return float("nan")
    rho = 1 - (within - covariance) / total
    rho[0] = 1
    pairs = rho[:n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[:negative[0] if len(negative) else len(pairs)])
    return min(m * n / max(2 * pairs.sum() - 1, 1 / np.log10(m * n)), m * n * np.log10(m * n))


def rhat(parts):
    def plain(z):
        n = z.shape[1]
        within, between = z.var(axis=1, ddof=1).mean(), z.mean(axis=1).var(ddof=1)
        return np.sqrt((n - 1) / n + between / within)

    def ranked(z):
        order = np.empty(z.size)
        order[np.argsort(z, axis=None, kind="stable")] = np.arange(1, z.size + 1)
        return quantile((order - 0.375) / (z.size + 0.25)).reshape(z.shape)

    return max(plain(ranked(parts)), plain(ranked(np.abs(parts - np.median(parts)))))


def quantile(p):
    """Quantiles of the standard normal distribution, interpolated on a grid, which suffices for ranks."""
    if not hasattr(quantile, "grid"):
        quantile.grid = np.concatenate([np.logspace(-9, -2, 2000), np.linspace(0.01, 0.5, 4000)[1:]])
        quantile.value = np.array([NormalDist().inv_cdf(x) for x in quantile.grid])
    lower = np.interp(np.minimum(p, 1 - p), quantile.grid, quantile.value)
    return np.where(p < 0.5, lower, -lower)


def moments(x, chains):
    """Mean, sd, and their Monte Carlo standard errors."""
    mean, sd = x.mean(), x.std(ddof=1)
    if not sd > 0:
        return mean, sd, 0.0, 0.0
    squares = (x - mean) ** 2
    return (mean, sd, sd / np.sqrt(effective(split(x, chains))),
            squares.std() / np.sqrt(effective(split(squares, chains))) / (2 * sd))


# References

fields = ["name", "scale", "mean", "sd", "mcse_mean", "mcse_sd", "u_mean", "u_sd", "u_mcse_mean", "u_mcse_sd"]


def write_reference(path, comments, names, scales, draws, chains):
    free = unconstrained(names, scales, draws)
    with open(path, "w") as file:
        for line in comments:
            file.write("# %s\n" % line)
        file.write(",".join(fields) + "\n")
        for k, (name, scale) in enumerate(zip(names, scales)):
            values = ["%.5g" % v for v in moments(draws[:, k], chains)]
            if not np.isnan(free[0, k]):
                values += ["%.6g" % v for v in moments(free[:, k], chains)]
            else:
                values += [""] * 4
            file.write(",".join([name, scale] + values) + "\n")


def read_reference(path):
    """Arrays by the names of the fields; missing numbers are nan."""
    with open(path) as file:
        lines = [line for line in file if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    out = {field: [row[field] for row in rows] for field in fields[:2]}
    for field in fields[2:]:
        out[field] = np.array([float(row[field]) if row[field] else np.nan for row in rows])
    return out
