"""Item response: which persons are able, which questions are hard? Simulated with known truth: item_response.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

TEXT = """
model {
  for (i in 1:P) {
    for (j in 1:Q) { y[i,j] ~ dbern(ilogit(slope[j] * (able[i] - hard[j]))) }
    able[i] ~ dnorm(0, 1)
  }
  for (j in 1:Q) {
    hard[j] ~ dnorm(0, 0.25)
    slope[j] ~ dlnorm(0, 4)
  }
}
"""

P, Q = 60, 10
random = np.random.RandomState(2)
able, hard, slope = random.normal(size=P), np.linspace(-1.8, 1.8, Q), np.exp(0.4 * random.normal(size=Q))
y = (random.uniform(size=(P, Q)) < 1 / (1 + np.exp(-slope * (able[:, None] - hard)))).astype(float)

fit = svmp.Model(TEXT, {"P": P, "Q": Q, "y": y}).fit(progressbar=False)
found = fit["able"]
low, high = np.quantile(found, [0.05, 0.95], axis=0)
share = y.mean(axis=1)
best = int(np.argmax(found.mean(axis=0)))
print(fit.verdict)
print(f"correlation with the true ability: {np.corrcoef(found.mean(axis=0), able)[0, 1]:.2f}, of the share of right answers {np.corrcoef(share, able)[0, 1]:.2f}")
print(f"{np.mean((low < able) & (able < high)):.0%} of the persons are in their 90 % interval, whose mean width is {np.mean(high - low):.1f}")
print(f"order of the questions: {' '.join(str(j + 1) for j in np.argsort(fit['hard'].mean(axis=0)))}")
print(f"person {best + 1} is the ablest with probability {np.mean(found.argmax(axis=1) == best):.2f}")

if drawing := picture.axes(2, width=8):
    figure, (left, right) = drawing
    left.errorbar(able, found.mean(axis=0), yerr=[found.mean(axis=0) - low, high - found.mean(axis=0)], fmt="o", ms=3, lw=0.7, color=picture.BLUE)
    left.plot([-2.5, 2.5], [-2.5, 2.5], color=picture.GREY, lw=1)
    left.set(xlabel="true ability", ylabel="ability found, with 90 %")
    width = np.quantile(fit["hard"], [0.05, 0.95], axis=0)
    right.vlines(np.arange(1, Q + 1), *width, color=picture.BLUE, lw=4, alpha=0.4)
    right.plot(np.arange(1, Q + 1), hard, "x", color=picture.RED, label="true")
    right.set(xlabel="question", ylabel="difficulty, with 90 %")
    right.legend()
    picture.save(figure)
