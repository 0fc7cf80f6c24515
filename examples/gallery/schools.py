"""Eight schools: how much did coaching help? schools.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

y, sigma = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]
model = svmp.Model(picture.HERE.parent / "from/schools.bug", {"J": 8, "y": y, "sigma": sigma})
fit = model.fit(progressbar=False)
theta = fit["theta"]
print(fit.verdict)
print("school  measured  posterior mean  5% to 95%")
for j, name in enumerate("ABCDEFGH"):
    low, high = np.quantile(theta[:, j], [0.05, 0.95])
    print(f"{name:6}  {y[j]:8}  {theta[:, j].mean():14.1f}  {low:.1f} to {high:.1f}")
print(f"Coaching in A helps more than in C with probability {np.mean(theta[:, 0] > theta[:, 2]):.2f}.")
print(f"Coaching helps on average (mu > 0) with probability {np.mean(fit['mu'] > 0):.2f}.")

if drawing := picture.axes(height=2.8):
    figure, axes = drawing
    at = np.arange(8)
    axes.vlines(at, *np.quantile(theta, [0.05, 0.95], axis=0), color=picture.BLUE, alpha=0.4, lw=5)
    axes.plot(at, theta.mean(axis=0), "o", color=picture.BLUE, label="posterior mean, with 90 %")
    axes.errorbar(at + 0.2, y, yerr=1.645 * np.array(sigma), fmt="x", color=picture.RED, lw=1, label="measured, with 90 %")
    axes.axhline(fit["mu"].mean(), color=picture.GREY, lw=1)
    axes.set(xticks=at, xticklabels=list("ABCDEFGH"), ylabel="effect in points")
    axes.legend(ncol=2)
    picture.save(figure)
