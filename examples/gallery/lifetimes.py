"""Times to failure of items, some of which still run: lifetimes.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

files = [picture.MODELS / name for name in ("survival.csv", "survival.R")]
fit = svmp.Model(picture.MODELS / "survival.bug", files).fit(progressbar=False)
shape, b0, b1 = fit["shape"], fit["b0"], fit["b1"]
median = {load: (np.log(2) / np.exp(b0 + b1 * load)) ** (1 / shape) for load in (0, 1)}
print(fit.verdict)
print(f"shape {shape.mean():.2f}, above 1 (items wear out) with probability {np.mean(shape > 1):.2f}")
for load, times in median.items():
    print(f"half of the items with load {load} fail before {times.mean():.2f} ({np.quantile(times, 0.05):.2f} to {np.quantile(times, 0.95):.2f})")
print(f"a load of 1 multiplies the hazard by {np.exp(b1).mean():.1f} ({np.exp(np.quantile(b1, 0.05)):.1f} to {np.exp(np.quantile(b1, 0.95)):.1f})")

if drawing := picture.axes():
    figure, axes = drawing
    time = np.linspace(0, 4, 80)
    for load, colour in ((0, picture.BLUE), (1, picture.RED)):
        alive = np.exp(-np.exp(b0 + b1 * load)[:, None] * time ** shape[:, None])
        axes.fill_between(time, *np.quantile(alive, [0.05, 0.95], axis=0), color=colour, alpha=0.25, lw=0)
        axes.plot(time, alive.mean(axis=0), color=colour, label=f"load {load}")
    axes.set(xlabel="time", ylabel="share that still runs", ylim=(0, 1))
    axes.legend()
    picture.save(figure)
