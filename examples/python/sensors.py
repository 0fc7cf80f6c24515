"""Sensors on a map: positions from distances, with a start from the distances alone."""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import svmp

models = Path(__file__).resolve().parents[2] / "models"
data = json.loads((models / "sensors.json").read_text())
known = np.array(data["x"], dtype=float)  # None becomes NaN: an unknown position
start, end = np.array(data["from"]), np.array(data["to"])

model = svmp.Model(models / "sensors.bug", data)
print(model)

# Posteriors of maps from distances have folded modes: start near a map that fits.
map_of_ranges = svmp.localise(known, start, end, data["r"])
fit = model.fit(method="transport", particles=200, init={"x": map_of_ranges})
print(fit.verdict)

x = fit["x"]  # (particles, sensors, 2): the anchors, which are known, are filled in
anchors = ~np.isnan(known[:, 0])
truth = np.genfromtxt(models / "sensors_truth.csv", delimiter=",", skip_header=1, usecols=1).reshape(-1, 2)
truth = truth[: len(known)][~anchors[: len(truth)]]
figure, axes = plt.subplots(figsize=(6.4, 6), layout="constrained")
for i, j in zip(start - 1, end - 1):
    axes.plot(*x.mean(axis=0)[[i, j]].T, color="#dddddd", lw=0.6, zorder=0)
unknown = np.flatnonzero(~anchors)
for k, sensor in enumerate(unknown):
    axes.plot(*x[:, sensor].T, ".", ms=2.5, alpha=0.5, color=plt.cm.tab20(k % 20))
axes.plot(*known[anchors].T, "s", ms=8, color="black", label="anchors")
axes.plot(*truth.T, "x", ms=7, color="black", label="true positions")
axes.set(aspect="equal", title="200 particles of each sensor")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "sensors.png", dpi=100)
