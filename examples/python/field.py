"""A Gaussian field from scipy.sparse: a surface from noisy measurements at some points of a grid."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import svmp

side, noise = 40, 0.3
random = np.random.default_rng(4)

# The prior: differences of neighbours are N(0, 1/16), the level is nearly free.
difference = sp.diags([1.0, -1.0], [0, 1], shape=(side - 1, side))
along = sp.kron(sp.identity(side), difference.T @ difference)
across = sp.kron(difference.T @ difference, sp.identity(side))
prior = 16 * (along + across) + 1e-3 * sp.identity(side * side)

# The data: a fifth of the points.
row, column = np.mgrid[0:side, 0:side] / side
truth = (np.sin(5 * row) + np.cos(7 * column)).ravel()
seen = random.random(side * side) < 0.2
y = np.where(seen, truth + noise * random.normal(size=side * side), np.nan)

# The posterior is Gaussian again: exp(b'x - x'Ax/2).
precision = prior + sp.diags(seen / noise**2)
linear = np.where(seen, y, 0.0) / noise**2

model = svmp.field(precision.tocsc(), linear)
mean, variance = model.exact_moments()
fit = model.fit(method="transport", particles=100)
print(model, fit.verdict, sep="\n")
print(f"largest error of a mean: {np.abs(fit['x'].mean(axis=0) - mean['x']).max():.3f}, largest sd: {variance['x'].max() ** 0.5:.3f}")
print(f"sd of the particles over the exact one: {np.mean(fit['x'].std(axis=0, ddof=1) / variance['x'] ** 0.5):.3f} on average")

figure, axes = plt.subplots(1, 4, figsize=(12, 2.8), layout="constrained")
pictures = {
    "measurements": y,
    "truth": truth,
    "mean of the particles": fit["x"].mean(axis=0),
    "sd of the particles": fit["x"].std(axis=0, ddof=1),
}
for a, (title, picture) in zip(axes, pictures.items()):
    limits = {} if title.startswith("sd") else {"vmin": -2.2, "vmax": 2.2}
    shown = a.imshow(picture.reshape(side, side), cmap="viridis", **limits)
    a.set(title=title, xticks=[], yticks=[])
    figure.colorbar(shown, ax=a, shrink=0.8)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "field.png", dpi=90)
