"""Stochastic volatility: returns whose spread drifts, simulated with known truth: volatility.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

TEXT = """
model {
  h[1] ~ dnorm(mu, (1 - phi^2) / pow(s, 2))
  for (t in 2:T) { h[t] ~ dnorm(mu + phi * (h[t-1] - mu), 1 / pow(s, 2)) }
  for (t in 1:T) { y[t] ~ dnorm(0, exp(-h[t])) }
  mu ~ dnorm(0, 0.1)
  phi ~ dbeta(20, 1.5)
  s ~ dhalfcauchy(0.5)
}
"""

T, mu, phi, s = 100, -1.0, 0.95, 0.35
random = np.random.RandomState(3)
h = np.empty(T)
h[0] = mu
for t in range(1, T):
    h[t] = mu + phi * (h[t - 1] - mu) + s * random.normal()
y = np.round(np.exp(h / 2) * random.normal(size=T), 4)  # the same data with every version of NumPy

fit = svmp.Model(TEXT, {"T": T, "y": y}).fit(progressbar=False)
found = np.exp(fit["h"] / 2)
low, high = np.quantile(found, [0.05, 0.95], axis=0)
print(fit.verdict)
for name, truth in (("phi", phi), ("s", s)):
    print(f"{name}: {fit[name].mean():.2f} ({np.quantile(fit[name], 0.05):.2f} to {np.quantile(fit[name], 0.95):.2f}), true {truth}")
print(f"the true spread is within the 90 % band on {np.mean((low < np.exp(h / 2)) & (np.exp(h / 2) < high)):.0%} of the days")
print(f"the next day's spread: {np.exp((fit['mu'] + fit['phi'] * (fit['h'][:, -1] - fit['mu'])) / 2).mean():.2f}")

if drawing := picture.axes():
    figure, axes = drawing
    axes.plot(np.abs(y), ".", color=picture.GREY, ms=4, label="size of the return")
    axes.fill_between(np.arange(T), low, high, color=picture.BLUE, alpha=0.25, lw=0)
    axes.plot(found.mean(axis=0), color=picture.BLUE, label="spread, with 90 %")
    axes.plot(np.exp(h / 2), color=picture.RED, lw=1, label="true spread")
    axes.set(xlabel="day", ylim=(0, None))
    axes.legend(ncol=3)
    picture.save(figure)
