"""Ordinary models that also print derived quantities: heavy tails on the natural scale, indicators, ratios, maxima,
ranks, thresholds, effects on other scales. Truth is (mean, sd, 5 %, 50 %, 95 %), by quadrature, in closed form, or from
two million independent draws of numpy.
"""
import math

import numpy as np

from truth import Case, grid_truth, of_draws, tau_of_effects

DRAWS = 2000000


def drawn(kind, setting, text, make, monitor=(), data=None):
    """A model without data; `make` draws the values to compare with."""
    values = make(np.random.default_rng(20261119))
    return Case(kind, setting, text, {name: of_draws(v) for name, v in values.items()}, data, monitor)


def of_indicators():
    for c in (-3.0902, -2.3263, -1.2816, 0.0, 1.2816, 2.3263, 3.0902):
        p = 0.5 * math.erfc(c / math.sqrt(2))
        yield Case("indicator", "p = %.3g" % p, "model { x ~ dnorm(0, 1)\n r <- step(x - %r) }\n" % c,
                   {"r": (p, math.sqrt(p * (1 - p)))}, None, ["r"])


def of_natural_scales():
    # (setting, distribution, density on the positive line as a logarithm, upper end)
    log = np.log
    rows = [("lognormal, sd 2", "dlnorm(0, 0.25)", lambda u: -u * u / 8, (-14, 26)),
            ("lognormal, sd 1", "dlnorm(0, 1)", lambda u: -u * u / 2, (-9, 14)),
            ("lognormal, sd 0.5", "dlnorm(0, 4)", lambda u: -2 * u * u, (-6, 8)),
            ("inverse gamma 3", "dinvgamma(3, 1)", lambda u: -3 * u - np.exp(-u), (-5, 18)),
            ("inverse gamma 5", "dinvgamma(5, 1)", lambda u: -5 * u - np.exp(-u), (-5, 14)),
            ("inverse gamma 10", "dinvgamma(10, 1)", lambda u: -10 * u - np.exp(-u), (-5, 8)),
            ("gamma 0.5", "dgamma(0.5, 1)", lambda u: 0.5 * u - np.exp(u), (-40, 4)),
            ("gamma 0.1", "dgamma(0.1, 1)", lambda u: 0.1 * u - np.exp(u), (-200, 4)),
            ("exponential", "dexp(1)", lambda u: u - np.exp(u), (-20, 4)),
            ("chi-square 1", "dchisqr(1)", lambda u: 0.5 * u - np.exp(u) / 2, (-40, 5)),
            ("Weibull 0.5", "dweib(0.5, 1)", lambda u: 0.5 * u - np.exp(0.5 * u), (-50, 9)),
            ("Weibull 0.7", "dweib(0.7, 1)", lambda u: 0.7 * u - np.exp(0.7 * u), (-40, 7)),
            ("F 4, 10", "df(4, 10)", lambda u: 2 * u - 7 * np.log1p(0.4 * np.exp(u)), (-12, 12))]
    for setting, text, density, ends in rows:
        u = np.linspace(*ends, 400001)
        yield Case("natural scale", setting, "model { x ~ %s }\n" % text, {"x": grid_truth(np.exp(u), density(u))})
    for a, b in ((0.1, 5), (0.2, 2), (0.5, 20)):
        u = np.linspace(-150, 20, 800001)
        p = 1 / (1 + np.exp(-u))
        value = a * -np.logaddexp(0, -u) + b * -np.logaddexp(0, u)
        yield Case("natural scale", "beta %g, %g" % (a, b), "model { x ~ dbeta(%g, %g) }\n" % (a, b),
                   {"x": grid_truth(p, value)})


def of_student_tails():
    for freedom in (2.5, 3, 4, 6):
        u = np.linspace(-12, 12, 400001)  # x = sinh(u)
        x = np.sinh(u)
        value = -(freedom + 1) / 2 * np.log1p(x * x / freedom) + np.log(np.cosh(u))
        yield Case("Student's tails", "%g freedoms" % freedom, "model { x ~ dt(0, 1, %g) }\n" % freedom,
                   {"x": grid_truth(x, value)})


def of_powers():
    for setting, code, f in (("exp(x/2)", "exp(x / 2)", lambda x: np.exp(x / 2)), ("exp(x)", "exp(x)", np.exp),
                             ("x^4", "x^4", lambda x: x ** 4), ("x^2", "x^2", lambda x: x ** 2),
                             ("abs", "abs(x)", np.abs), ("x^3", "x^3", lambda x: x ** 3),
                             ("exp(2 x)", "exp(2 * x)", lambda x: np.exp(2 * x))):
        x = np.linspace(-14, 14, 1000001)
        yield Case("power of a normal", setting, "model { x ~ dnorm(0, 1)\n r <- %s }\n" % code,
                   {"r": grid_truth(f(x), -x * x / 2)}, None, ["r"])


def of_ratios():
    for m in (6, 8, 10):
        yield drawn("ratio", "divisor N(%g, 1)" % m, "model { x ~ dnorm(1, 1)\n y ~ dnorm(%g, 1)\n r <- x / y }\n" % m,
                    lambda g: {"r": g.normal(1, 1, DRAWS) / g.normal(m, 1, DRAWS)}, ["r"])
    for a, b in ((3, 20), (10, 40), (1, 5)):
        def make(g):
            p, q = g.beta(a + 1, b - a + 1, DRAWS), g.beta(b // 2 + 1, b - b // 2 + 1, DRAWS)
            return {"risk": q / p, "odds": q / (1 - q) / (p / (1 - p)), "gap": q - p, "better": (q > p) * 1.0}
        yield drawn("two binomials", "%d of %d" % (a, b),
                    "model {\n  p ~ dbeta(1, 1)\n  q ~ dbeta(1, 1)\n  y ~ dbin(p, n)\n  z ~ dbin(q, n)\n"
                    "  risk <- q / p\n  odds <- q / (1 - q) / (p / (1 - p))\n  gap <- q - p\n  better <- step(q - p)\n}\n",
                    make, ["risk", "odds", "gap", "better"], {"y": a, "z": b // 2, "n": b})


def of_extremes():
    for count in (3, 10, 40):
        def make(g):
            x = g.normal(size=(DRAWS // 10, count))
            return {"top": x.max(axis=1), "low": x.min(axis=1), "spread": x.max(axis=1) - x.min(axis=1),
                    "place": (x < x[:, :1]).sum(axis=1) + 1.0, "best": (x[:, 0] >= x.max(axis=1)) * 1.0}
        yield drawn("maxima and ranks", "of %d" % count,
                    "model {\n  for (i in 1:%d) { x[i] ~ dnorm(0, 1) }\n  top <- max(x[])\n  low <- min(x[])\n"
                    "  spread <- top - low\n  place <- rank(x[])[1]\n  best <- step(x[1] - top)\n}\n".replace(
                        "rank(x[])[1]", "ranked[1]\n  ranked <- rank(x[])") % count,
                    make, ["top", "low", "spread", "place", "best"])


def of_thresholds():
    for c in (0.5, 1.0, 2.0):
        yield drawn("threshold", "%g" % c,
                    "model { x ~ dnorm(0, 1)\n y ~ dexp(1)\n r <- max(0, x - %g)\n s <- ifelse(y > %g, x, -x)\n"
                    " u <- step(x - y) * y }\n" % (c, c),
                    lambda g: (lambda x, y: {"r": np.maximum(0, x - c), "s": np.where(y > c, x, -x), "u": (x >= y) * y})(
                        g.normal(size=DRAWS), g.exponential(size=DRAWS)), ["r", "s", "u"])


def of_discrete():
    for p, a in ((0.3, 1.0), (0.05, 1.5), (0.9, 0.5)):
        y = [0.4, -0.3, 2.1]
        odds = [p * math.exp(-0.5 * (v - a) ** 2) / ((1 - p) * math.exp(-0.5 * (v + a) ** 2)) for v in y]
        truth = {}
        for i, o in enumerate(odds):
            share = o / (1 + o)
            truth["z[%d]" % (i + 1)] = (share, math.sqrt(share * (1 - share)))
        shares = np.array([o / (1 + o) for o in odds])
        truth["k"] = (shares.sum(), math.sqrt((shares * (1 - shares)).sum()))
        yield Case("discrete unknowns", "p = %g" % p,
                   "model {\n  for (i in 1:3) { z[i] ~ dbern(%g)\n    y[i] ~ dnorm((2 * z[i] - 1) * %g, 1) }\n"
                   "  k <- sum(z[])\n  w ~ dnorm(0, 1)\n}\n" % (p, a), truth, {"y": y}, ["z", "k"])


def of_predictions():
    for n in (5, 10, 30):
        y = np.round(np.random.default_rng(n).normal(3, 2, n), 2)

        def make(g):
            tau = g.gamma(0.01 + n / 2 - 0.5 + 0, 1 / (0.01 + ((y - y.mean()) ** 2).sum() / 2), DRAWS)
            mu = y.mean() + g.normal(size=DRAWS) / np.sqrt(n * tau)
            return {"mu": mu, "tau": tau, "sigma": tau ** -0.5, "cv": tau ** -0.5 / mu if n > 10 else tau ** -0.5,
                    "new": mu + g.normal(size=DRAWS) / np.sqrt(tau), "over": (mu > 3) * 1.0}
        yield drawn("normal sample", "n = %d" % n,
                    "model {\n  mu ~ dflat()\n  tau ~ dgamma(0.01, 0.01)\n  for (i in 1:%d) { y[i] ~ dnorm(mu, tau) }\n"
                    "  new ~ dnorm(mu, tau)\n  sigma <- 1 / sqrt(tau)\n  cv <- %s\n  over <- step(mu - 3)\n}\n" % (
                        n, "sigma / mu" if n > 10 else "sigma"),
                    make, ["sigma", "cv", "over"], {"y": list(y)})


def of_few_groups():
    for count, spread, prior in ((5, 1.0, "half-Cauchy"), (8, 3.0, "half-Cauchy"), (8, 0.5, "uniform")):
        y = np.round(np.random.default_rng(count).normal(0, spread, count) + np.random.default_rng(7).normal(size=count), 2)
        truth = tau_of_effects(y, prior)
        line = "s ~ dt(0, 1, 1)T(0,)" if prior == "half-Cauchy" else "s ~ dunif(0, 20)"
        yield Case("few groups", "%d, %s" % (count, prior),
                   "model {\n  mu ~ dnorm(0, 0.01)\n  %s\n  for (i in 1:%d) {\n    u[i] ~ dnorm(mu, 1 / s^2)\n"
                   "    y[i] ~ dnorm(u[i], 1)\n  }\n  v <- s^2\n  icc <- v / (1 + v)\n}\n" % (line, count),
                   truth, {"y": list(y)}, ["v", "icc"])


def of_simplexes():
    for alpha in ((1, 2, 3), (0.3, 0.3, 0.4), (10, 1, 1)):
        def make(g):
            p = g.dirichlet(alpha, DRAWS)
            return {"p[1]": p[:, 0], "p[2]": p[:, 1], "p[3]": p[:, 2], "entropy": -(p * np.log(p + 1e-300)).sum(axis=1),
                    "first": (p[:, 0] > p[:, 1]) * 1.0}
        yield drawn("simplex", "%g, %g, %g" % alpha,
                    "model {\n  p[1:3] ~ ddirch(a[])\n  first <- step(p[1] - p[2])\n"
                    "  entropy <- -(p[1] * log(p[1] + 1.0E-300) + p[2] * log(p[2] + 1.0E-300) + p[3] * log(p[3] + 1.0E-300))\n}\n",
                    make, ["entropy", "first"], {"a": list(map(float, alpha))})


def of_truncation():
    for low, high in ((0, 1), (2, 20), (-0.1, 5)):
        u = np.linspace(low, high, 200001)
        yield Case("truncated", "%g to %g" % (low, high),
                   "model { x ~ dnorm(0, 1)T(%g, %g)\n r <- log(x + 0.2) }\n" % (low, high),
                   {"x": grid_truth(u, -u * u / 2), "r": grid_truth(np.log(u + 0.2), -u * u / 2)}, None, ["r"])


def of_separated_logits():
    for events, trials in ((0, 10), (1, 30), (19, 20)):
        u = np.linspace(-40, 40, 400001)
        value = -events * np.logaddexp(0, -u) - (trials - events) * np.logaddexp(0, u) - 0.5 * u * u / 25
        p = 1 / (1 + np.exp(-u))
        yield Case("rare events", "%d of %d" % (events, trials),
                   "model { b ~ dnorm(0, 1 / 25)\n y ~ dbin(p, %d)\n p <- ilogit(b)\n wait <- 1 / p\n odds <- exp(b) }\n"
                   % trials, {"b": grid_truth(u, value), "p": grid_truth(p, value), "wait": grid_truth(1 / p, value),
                              "odds": grid_truth(np.exp(u), value)}, {"y": events}, ["p", "wait", "odds"])


def of_unidentified_products():
    for y, sd in ((1.0, 0.5), (0.5, 0.1), (2.0, 1.0)):
        a = np.linspace(-7, 7, 2801)
        value = -0.5 * ((y - a[:, None] * a[None, :]) / sd) ** 2 - 0.5 * a[:, None] ** 2 - 0.5 * a[None, :] ** 2
        own = np.log(np.exp(value - value.max()).sum(axis=1))
        both = (a[:, None] * a[None, :]).ravel()
        yield Case("a times b", "y = %g" % y,
                   "model { a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n y ~ dnorm(a * b, %r)\n ab <- a * b }\n" % (1 / sd ** 2),
                   {"a": grid_truth(a, own), "b": grid_truth(a, own), "ab": grid_truth(both, value.ravel())},
                   {"y": y}, ["ab"])


def of_rates():
    for y, t in ((0, 1.0), (2, 3.0), (15, 4.0)):
        def make(g):
            r = g.gamma(0.5 + y, 1 / (0.001 + t), DRAWS)
            return {"r": r, "new": g.poisson(r) * 1.0, "many": (r > 2) * 1.0}
        yield drawn("rates", "%d in %g" % (y, t),
                    "model { r ~ dgamma(0.5, 0.001)\n y ~ dpois(r * %g)\n new ~ dpois(r)\n many <- step(r - 2) }\n" % t,
                    make, ["new", "many"], {"y": y})


def of_pareto():
    for shape in (2.5, 3.5, 6.0):
        u = np.linspace(0, 60 / shape, 400001)
        yield Case("Pareto", "shape %g" % shape, "model { x ~ dpar(%g, 1) }\n" % shape,
                   {"x": grid_truth(np.exp(u), -shape * u)})


def of_nothing_known():
    """No mean or no variance: only a refusal is right."""
    for setting, text in (("Cauchy", "x ~ dt(0, 1, 1)"), ("ratio of normals", "a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n x <- a / b"),
                          ("Pareto 1.5", "x ~ dpar(1.5, 1)"), ("inverse gamma 1.5", "x ~ dinvgamma(1.5, 1)"),
                          ("t, 2 freedoms", "x ~ dt(0, 1, 2)")):
        yield Case("no variance", setting, "model { %s }\n" % text, {"x": (0, math.inf)}, None,
                   ["x"] if "<-" in text else [])


def cases():
    for make in (of_indicators, of_natural_scales, of_student_tails, of_powers, of_ratios, of_extremes, of_thresholds,
                 of_discrete, of_predictions, of_few_groups, of_simplexes, of_truncation, of_separated_logits,
                 of_unidentified_products, of_rates, of_pareto, of_nothing_known):
        yield from make()
