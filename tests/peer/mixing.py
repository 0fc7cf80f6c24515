"""Series of many kinds: what `svmp summary --errors` prints of them, and what ArviZ says, digit by digit.

Lengths are multiples of 4. ArviZ leaves the chains' middle draws out of the median that it folds at, and sums one pair of
autocorrelations more than Stan when half a chain is odd and all pairs are positive; svmp does as Stan does."""
import csv
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")
import arviz
import numpy


def autoregressive(random, chains, draws, rho):
    x = random.normal(size=(chains, draws))
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + numpy.sqrt(1 - rho * rho) * x[:, t]
    return x


def series(random, chains, draws):
    for rho in (-0.9, -0.5, 0, 0.5, 0.9, 0.99):
        yield autoregressive(random, chains, draws, rho)
    yield numpy.round(2 * autoregressive(random, chains, draws, 0.5)) + 0.5  # ties
    yield autoregressive(random, chains, draws, 0.3) + numpy.arange(chains)[:, None]  # chains differ in location
    yield autoregressive(random, chains, draws, 0.3) * (1 + numpy.arange(chains))[:, None]  # or in scale
    yield numpy.exp(3 * autoregressive(random, chains, draws, 0.3))
    yield random.standard_cauchy((chains, draws))
    yield 1e6 + 1e-3 * autoregressive(random, chains, draws, 0.5)


def expected(x):
    """The cells of the two tables."""
    mixed = [arviz.rhat(x), arviz.ess(x, method="bulk"), arviz.ess(x, method="tail")]
    errors = [arviz.mcse(x, method="mean"), arviz.mcse(x, method="sd")]
    errors += [arviz.mcse(x, method="quantile", prob=p) for p in (0.05, 0.5, 0.95)]
    moments = [x.mean(), errors[0], x.std(ddof=1), *numpy.quantile(x, (0.05, 0.5, 0.95))]
    formats = ["%.4g", "%.2g", "%.4g", "%.4g", "%.4g", "%.4g", "%.3f", "%.0f", "%.0f"]
    return [f % float(v) for f, v in zip(formats, moments + mixed)], ["%.4g" % float(v) for v in errors]


compared = 0
for chains, draws in ((4, 1000), (2, 100), (3, 52), (4, 12)):
    columns = list(series(numpy.random.default_rng(draws), chains, draws))
    with open("series.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["chain__"] + [f"x.{k + 1}" for k in range(len(columns))])
        for c in range(chains):
            for t in range(draws):
                writer.writerow([c + 1] + [repr(float(x[c, t])) for x in columns])
    said = subprocess.run([sys.argv[1], "summary", "--errors", "series.csv"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in said.stdout.splitlines() if line.startswith("x.")]
    for k, x in enumerate(columns):
        table, errors = expected(x)
        assert rows[k][1:] == table, (chains, draws, rows[k], table)
        there = rows[k + len(columns)][1:]
        assert [v.lstrip("-") if v == "-0" else v for v in there] == [v.lstrip("-") if v == "-0" else v for v in errors], (
            chains, draws, there, errors)
        compared += len(table) + len(errors)
assert compared > 600
print(f"{compared} numbers are ArviZ's {arviz.__version__}")
