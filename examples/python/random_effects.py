"""Regression with random effects: houses in counties, from CSV to a forest plot."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import svmp

models = Path(__file__).resolve().parents[2] / "models"
houses = pd.read_csv(models / "hierarchical.csv")

# Columns of the table, and arrays that are not columns.
model = svmp.Model(models / "hierarchical.bug", [houses, models / "hierarchical.json"])
print(model)

fit = model.fit(method="transport", particles=200)
print(fit.verdict)
print(fit.summary(["b", "g0", "g1", "tau.y", "tau.a"]))

# The same by NUTS: do they agree?
draws = model.sample(draws=1000, tune=1000)
print(fit.compare(draws))

# For each county: the mean of its houses on the ground floor, and the posterior of its effect.
a, plain = fit["a"], houses[houses.floor == 0].groupby("county").y.agg(["mean", "count"])
order = np.argsort(a.mean(axis=0))
low, high = np.quantile(a, [0.05, 0.95], axis=0)
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
axes.vlines(np.arange(a.shape[1]), low[order], high[order], color="#9aa7b8", lw=4, label="90 % of the particles")
axes.plot(a.mean(axis=0)[order], "o", color="#1f3b63", ms=4, label="county effect")
place = {county + 1: k for k, county in enumerate(order)}
axes.plot([place[c] for c in plain.index], plain["mean"], "x", color="#d1495b", ms=5, label="mean of the county's houses")
axes.axhline(fit["a"].mean(), color="#cccccc", lw=1, zorder=0)
axes.set(xlabel="county", ylabel="log radon, ground floor", xticks=range(len(order)), xticklabels=order + 1)
axes.legend(frameon=False, loc="upper left")
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "random_effects.png", dpi=100)
