"""effective.py NUTS.csv SECONDS: the effective sample size of every variable of one chain, by Geyer's initial monotone sequence, and the time that the chain, which took SECONDS, would need for a size of 4,444, a standard error of 0.015 sd: for the slowest variable and for the median."""
import sys

import numpy as np

with open(sys.argv[1]) as file:
    lines = [line.rstrip("\n") for line in file]
rows = [line.split(",") for line in lines if not line.startswith("#")]
clock = {name: next(float(word) for line in lines if name in line and line.startswith("#") for word in line.split() if word[0].isdigit())
         for name in ("(Warm-up)", "(Sampling)", "(Total)")}
names, draws = rows[0], np.array(rows[1:], dtype=float)
steps = draws[:, names.index("n_leapfrog__")]
variables = [k for k, name in enumerate(names) if not name.endswith("__") and np.ptp(draws[:, k]) > 0]
if not variables:
    print("NUTS: %d draws, all the same: the run was too short" % len(draws))
    sys.exit()
x = draws[:, variables] - draws[:, variables].mean(0)
n = len(x)
covariance = np.fft.irfft(np.abs(np.fft.rfft(x, 2 * n, axis=0)) ** 2, axis=0)[:n] / n
correlation = covariance / covariance[0]
pairs = correlation[0 : n - n % 2 : 2] + correlation[1 : n : 2]
pairs = np.where(np.logical_and.accumulate(pairs > 0), np.minimum.accumulate(pairs), 0)
effective = n / np.maximum(2 * pairs.sum(0) - 1, 1 / np.log10(n + 1))
order = np.argsort(effective)
print("NUTS: %d draws of %.0f leapfrog steps; effective draws %.0f (%s), median %.0f" %
      (n, steps.mean(), effective[order[0]], names[variables[order[0]]], np.median(effective)))
if clock["(Total)"] == 0:
    print("the run was too short to measure its speed")
    sys.exit()
whole = float(sys.argv[2])
warming, drawing = (whole * clock[name] / clock["(Total)"] for name in ("(Warm-up)", "(Sampling)"))
print("at this pace, the warm-up and 4,444 effective draws take %.3g s of the processor; for the median variable, %.3g s" %
      tuple(warming + drawing * 4444 / some for some in (effective[order[0]], np.median(effective))))
