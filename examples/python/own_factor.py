"""A factor of one's own: two points near a circle that keep a distance, as functions of NumPy."""

import sys

import matplotlib.pyplot as plt
import numpy as np

import svmp


def near_circle(x):
    """log exp(-(|x| - 2)^2 / (2 0.2^2)) of all particles at once: x is (n, 2); value (n,) and gradient (n, 2)."""
    radius = np.linalg.norm(x, axis=1)
    off = (radius - 2) / 0.04
    return -0.5 * off * (radius - 2), -(off / radius)[:, None] * x


def apart(x, y):
    """Points at a distance of 2: a gradient for each of the two nodes."""
    between = x - y
    distance = np.linalg.norm(between, axis=1)
    off = (distance - 2) / 0.25
    pull = (off / distance)[:, None] * between
    return -0.5 * off * (distance - 2), (-pull, pull)


g = svmp.Graph()
g.node("x", 2)
g.node("y", 2)
g.gaussian("x", 1.5 * np.eye(2), mean=[2.0, 0.0])  # x is on the right,
g.gaussian("y", 1.5 * np.eye(2), mean=[0.0, 2.0])  # y above
g.factor("x", near_circle)
g.factor("y", near_circle)
g.factor(["x", "y"], apart)

model = g.model()
worst = model.check_gradient()
print(f"largest error of a gradient: {worst['error']:.2g} ({worst['variable']})")

fit = model.fit(method="graphical", particles=300, iterations=1000, step="adam:0.1..0.01")
draws = model.sample(draws=500, tune=500)
print(fit.verdict, draws.verdict, sep="\n")

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharex=True, sharey=True)
for a, (title, sample) in zip(axes, {"300 particles": fit, "300 of the draws of NUTS": draws}.items()):
    some = np.linspace(0, len(sample) - 1, 300).astype(int)
    for name, colour in (("x", "#1f3b63"), ("y", "#d1495b")):
        a.plot(*sample[name][some].T, ".", ms=4, color=colour, label=name)
    a.set(aspect="equal", title=title)
    a.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "own_factor.png", dpi=90)
