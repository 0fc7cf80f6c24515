"""A straight line through points, some of which are wrong: outliers.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

model = svmp.Model(picture.MODELS / "robust.bug", picture.MODELS / "robust.csv")
fit = model.fit(progressbar=False)
data = np.genfromtxt(picture.MODELS / "robust.csv", delimiter=",", names=True)
x, y = data["x"], data["y"]
slope, level = np.polyfit(x, y, 1)
print(fit.verdict)
print(f"least squares: {level:.2f} + {slope:.2f} x")
print(f"svmp:          {fit['alpha'].mean():.2f} + {fit['beta'].mean():.2f} x, slope {np.quantile(fit['beta'], 0.05):.2f}"
      f" to {np.quantile(fit['beta'], 0.95):.2f}, degrees of freedom {fit['nu'].mean():.1f}")

if drawing := picture.axes():
    figure, axes = drawing
    at = np.linspace(x.min(), x.max(), 100)
    lines = fit["alpha"][:, None] + fit["beta"][:, None] * at
    axes.fill_between(at, *np.quantile(lines, [0.05, 0.95], axis=0), color=picture.BLUE, alpha=0.25, lw=0)
    axes.plot(at, lines.mean(axis=0), color=picture.BLUE, label="svmp, with 90 % of the posterior")
    axes.plot(at, level + slope * at, "--", color=picture.RED, label="least squares")
    axes.plot(x, y, "o", color="black", ms=3, label="data")
    axes.set(xlabel="x", ylabel="y")
    axes.legend()
    picture.save(figure)
