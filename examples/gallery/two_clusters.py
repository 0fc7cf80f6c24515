"""A mixture and its modes: which cluster is the first one? two_clusters.py [PICTURE.svg]"""

import numpy as np
import picture
import svmp

TEXT = """
model {
  for (i in 1:length(y)) {
    z[i] ~ dcat(p[])
    y[i] ~ dnorm(m[z[i]], 1 / pow(s, 2))
  }
  p[1:2] ~ ddirch(c(2, 2))
  s ~ dhalfcauchy(1)
  m[1] ~ dnorm(0, 0.01)
  m[2] ~ dnorm(0, 0.01) ORDER
}
"""

random = np.random.RandomState(4)
y = np.round(np.concatenate([random.normal(-2, 0.8, 25), random.normal(2, 0.8, 15)]), 3)
free = svmp.Model(TEXT.replace("ORDER", ""), {"y": y}).fit(progressbar=False)
ordered = svmp.Model(TEXT.replace("ORDER", "T(m[1],)"), {"y": y}).fit(progressbar=False)
print("without an order:", free.verdict)
print(f"  m[1] {free['m'][:, 0].mean():.2f}, sd {free['m'][:, 0].std():.2f}; {np.mean(free['m'][:, 0] < 0):.0%} of the draws have the left cluster first")
print("with m[1] < m[2]:", ordered.verdict)
for k in range(2):
    print(f"  m[{k + 1}] {ordered['m'][:, k].mean():.2f}, sd {ordered['m'][:, k].std():.2f}, share {ordered['p'][:, k].mean():.2f}")

if drawing := picture.axes(2, width=8, height=3):
    figure, (left, right) = drawing
    left.plot(*free["m"].T, ".", ms=3, color=picture.GREY, label="no order", rasterized=True)
    left.plot(*ordered["m"].T, ".", ms=3, color=picture.BLUE, label="m[1] < m[2]", rasterized=True)
    left.set(xlabel="m[1]", ylabel="m[2]")
    left.legend()
    at = np.linspace(-5, 5, 100)[:, None]
    density = sum(ordered["p"][:, k] * np.exp(-0.5 * ((at - ordered["m"][:, k]) / ordered["s"]) ** 2) / ordered["s"] / np.sqrt(2 * np.pi) for k in range(2))
    right.hist(y, bins=16, density=True, color=picture.GREY, alpha=0.5)
    right.fill_between(at[:, 0], *np.quantile(density, [0.05, 0.95], axis=1), color=picture.BLUE, alpha=0.25, lw=0)
    right.plot(at[:, 0], density.mean(axis=1), color=picture.BLUE)
    right.set(xlabel="y", ylabel="density, with 90 %")
    picture.save(figure)
