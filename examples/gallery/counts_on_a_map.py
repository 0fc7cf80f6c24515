"""A smooth field from counts on a grid, simulated with known truth: counts_on_a_map.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

TEXT = """
model {
  for (i in 1:N) {
    for (j in 1:N) {
      y[i,j] ~ dpois(exp(level + u[i,j]))
      u[i,j] ~ dflat()
    }
  }
  for (i in 1:(N-1)) {
    for (j in 1:N) {
      factor(-0.5 * kappa * pow(u[i+1,j] - u[i,j], 2))
      factor(-0.5 * kappa * pow(u[j,i+1] - u[j,i], 2))
    }
  }
  factor(0.5 * (N * N - 1) * log(kappa))    # the normalising term of the differences
  factor(-0.5 * pow(sum(u[,]), 2))          # the level is in `level`
  level ~ dnorm(0, 0.1)
  kappa ~ dgamma(2, 0.1)
}
"""

N = 10
row, column = np.mgrid[0:N, 0:N] / N
truth = 1.0 + np.sin(5 * row) * np.cos(4 * column)
y = np.random.RandomState(5).poisson(np.exp(truth)).astype(float)
y[2:5, 6:9] = np.nan  # nobody counted there

fit = svmp.Model(TEXT, {"N": N, "y": y}).fit(progressbar=False)
rate = np.exp(fit["level"][:, None, None] + fit["u"])
low, high = np.quantile(rate, [0.05, 0.95], axis=0)
inside = (low < np.exp(truth)) & (np.exp(truth) < high)
print(fit.verdict)
print(f"the true rate is within the 90 % interval in {inside.mean():.0%} of {N * N} cells, in {inside[2:5, 6:9].sum()} of 9 without a count")
print(f"mean error of the log rate: {np.abs(np.log(rate.mean(axis=0)) - truth).mean():.2f}, of the log of the counts"
      f" {np.nanmean(np.abs(np.log(y + 0.5) - truth)):.2f}")

if drawing := picture.axes(4, width=10, height=2.5):
    figure, axes = drawing
    pictures = {"counts": y, "true rate": np.exp(truth), "rate found": rate.mean(axis=0), "its sd": rate.std(axis=0)}
    for place, (title, values) in zip(axes, pictures.items()):
        limits = {} if title == "its sd" else {"vmin": 0, "vmax": 9}
        shown = place.imshow(values, cmap="viridis", **limits)
        place.set(title=title, xticks=[], yticks=[])
        figure.colorbar(shown, ax=place, shrink=0.8)
    picture.save(figure)
