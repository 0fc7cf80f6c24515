"""Sensors that measure distances to each other find their places: positions.py [PICTURE.svg]"""

import csv

import numpy as np
import picture
import svmp

model = svmp.Model(picture.MODELS / "sensors.bug", picture.MODELS / "sensors.json")
fit = model.fit(progressbar=False)
truth = {row["name"]: float(row["value"]) for row in csv.DictReader(open(picture.MODELS / "sensors_truth.csv"))}
x = fit["x"]
true = np.array([[truth.get(f"x.{i + 1}.{k + 1}", np.nan) for k in range(2)] for i in range(x.shape[1])])
unknown = x.std(axis=0)[:, 0] > 0
error = np.hypot(*(x.mean(axis=0) - true)[unknown].T)
spread = np.sqrt(x.var(axis=0).sum(axis=1))[unknown]
print(fit.verdict)
print(f"{unknown.sum()} sensors: error of the mean {np.median(error):.3f} (median), {error.max():.3f} (largest)")
print(f"the spread says: {np.median(spread):.3f} (median), {spread.max():.3f} (largest, sensor {np.flatnonzero(unknown)[spread.argmax()] + 1})")

if drawing := picture.axes(width=5, height=4):
    figure, axes = drawing
    for i in np.flatnonzero(unknown):
        axes.plot(*x[::5, i].T, ".", ms=2, alpha=0.5, rasterized=True)
    axes.plot(*true[unknown].T, "k+", ms=9, label="true place")
    axes.plot(*x.mean(axis=0)[~unknown].T, "s", color=picture.RED, label="anchors")
    axes.set_aspect("equal")
    axes.legend(loc="upper right")
    picture.save(figure)
