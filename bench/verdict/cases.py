"""Models with several modes, unusual shapes, or plain ones, and what is true of them, by quadrature.

Densities of one or two variables are integrated on a grid; mixtures have their moments in closed form.
"""
import math

import numpy as np

import derived_cases
import walk_cases
from truth import Case, line, moments, plane


def mixture(shares, means, sds):
    shares, means, sds = (np.array(v, float) for v in (shares, means, sds))
    mean = (shares * means).sum()
    return mean, math.sqrt((shares * (sds ** 2 + means ** 2)).sum() - mean ** 2)


# Modes that are written

def mixture_text(shares, means, sds, count):
    """A mixture of N(mean_k, sd_k^2 I) in `count` dimensions, as a factor."""
    logs = ["%r - 0.5 * (%s) / %r" % (
        math.log(share) - count * math.log(sd), " + ".join("(x[%d] - %r)^2" % (i + 1, mean) for i in range(count)),
        sd ** 2) for share, mean, sd in zip(shares, means, sds)]
    body = "".join("  l[%d] <- %s\n" % (k + 1, log) for k, log in enumerate(logs))
    most = "l[1]"
    for k in range(1, len(logs)):
        most = "max(%s, l[%d])" % (most, k + 1)
    total = " + ".join("exp(l[%d] - top)" % (k + 1) for k in range(len(logs)))
    return ("model {\n  for (i in 1:%d) { x[i] ~ dflat() }\n%s  top <- %s\n  factor(top + log(%s))\n}\n"
            % (count, body, most, total))


def written(kind, setting, shares, means, sds, count):
    truth = {"x[%d]" % (i + 1): mixture(shares, means, sds) for i in range(count)}
    return Case(kind, setting, mixture_text(shares, means, sds, count), truth)


def of_equal_mass():
    for sd in (1.5, 2.0, 3.0):
        yield written("equal mass, lower density", "8 dimensions, sd %g" % sd, [.5, .5], [0, 8], [1, sd], 8)
    yield written("equal mass, lower density", "sd 10 at 60", [.5, .5], [0, 60], [1, 10], 1)
    yield written("equal mass, lower density", "sd 0.1 at 5", [.5, .5], [0, 5], [1, 0.1], 1)
    yield written("equal mass, lower density", "4 dimensions, sd 4 at 20", [.5, .5], [0, 20], [1, 4], 4)


def of_light_modes():
    for share in (0.01, 0.02, 0.03):
        yield written("nearly empty mode", "%g at 10 sd" % share, [1 - share, share], [0, 10], [1, 1], 1)
    for far in (30, 100, 1000):
        yield written("far mode", "at %g sd" % far, [.6, .4], [0, far], [1, 1], 1)
    for share in (0.05, 0.1, 0.2):
        yield written("light mode", "%g at 10 sd" % share, [1 - share, share], [0, 10], [1, 1], 1)
        yield written("light mode", "%g at 10 sd, 3 dimensions" % share, [1 - share, share], [0, 6], [1, 1], 3)


def of_spikes():
    for share, sd in ((0.5, 0.01), (0.5, 0.1), (0.3, 0.05)):
        yield written("spike in a wide one", "%g of sd %g" % (share, sd), [share, 1 - share], [0, 0], [sd, 1], 1)


def of_three_modes():
    yield written("three modes", "0, 6, -9", [.3, .3, .4], [0, 6, -9], [1, 0.5, 2], 1)
    yield written("three modes", "2 dimensions", [.3, .3, .4], [0, 8, -8], [1, 2, 0.5], 2)
    yield written("three modes", "5 dimensions", [.2, .5, .3], [0, 5, -7], [1, 1, 1.5], 5)


# Modes that data make

def of_squares():
    for y, precision in ((4, 100), (9, 100), (2, 25)):
        truth = line(lambda x: -0.5 * precision * (y - x ** 2) ** 2 - 0.5 * (x - 0.5) ** 2, -6, 6)
        yield Case("data: square", "y = %g, precision %g" % (y, precision),
                   "model {\n  x ~ dnorm(0.5, 1)\n  y ~ dnorm(x^2, %g)\n}\n" % precision, {"x": truth}, {"y": y})


def of_anchors():
    for share in (0.3, 1.0, 2.0):
        d1, d2, sd = 5.0, 5.0, 0.3
        prior = share
        def log_density(a, b):
            r1, r2 = np.hypot(a + 3, b), np.hypot(a - 3, b)
            return (-0.5 * ((d1 - r1) / sd) ** 2 - 0.5 * ((d2 - r2) / sd) ** 2 - 0.5 * (a / 10) ** 2
                    - 0.5 * ((b - prior) / 3) ** 2)
        one, two = plane(log_density, (-4, 4), (-8, 8))
        yield Case("data: mirror image", "prior mean %g" % prior,
                   "model {\n  a ~ dnorm(0, 0.01)\n  b ~ dnorm(%g, 1 / 9)\n"
                   "  d1 ~ dnorm(sqrt((a + 3)^2 + b^2), 1 / 0.09)\n"
                   "  d2 ~ dnorm(sqrt((a - 3)^2 + b^2), 1 / 0.09)\n}\n" % prior,
                   {"a": one, "b": two}, {"d1": d1, "d2": d2})


def of_two_classes():
    y = np.array([-1.8, -1.1, -0.9, 1.2, 1.6, 2.3])
    for first, second in ((-1, 1), (-2, 2), (-0.5, 0.5)):
        def log_density(a, b):
            total = -0.25 * (a - first) ** 2 - 0.25 * (b - second) ** 2
            for value in y:
                total = total + np.logaddexp(-0.5 * (value - a) ** 2, -0.5 * (value - b) ** 2)
            return total
        one, two = plane(log_density, (-8, 8), (-8, 8))
        yield Case("data: two classes", "priors %g, %g" % (first, second),
                   "model {\n  a ~ dnorm(%g, 0.5)\n  b ~ dnorm(%g, 0.5)\n  for (i in 1:6) {\n"
                   "    factor(log(exp(-0.5 * (y[i] - a)^2) + exp(-0.5 * (y[i] - b)^2)))\n  }\n}\n" % (first, second),
                   {"a": one, "b": two}, {"y": list(y)})


def of_exponentials():
    t = np.array([0.2, 0.5, 1, 1.5, 2, 3, 4, 6])
    for seed in (1, 2, 3):
        noise = np.random.default_rng(seed).normal(size=t.size) * 0.05
        y = np.round(np.exp(-2 * t) + np.exp(-0.3 * t) + noise, 3)
        def log_density(a, b):
            total = -0.5 * a ** 2 - 0.5 * b ** 2
            for value, when in zip(y, t):
                total = total - 0.5 * ((value - np.exp(-np.exp(a) * when) - np.exp(-np.exp(b) * when)) / 0.05) ** 2
            return total
        one, two = plane(log_density, (-4, 4), (-4, 4))
        yield Case("data: two exponentials", "data %d" % seed,
                   "model {\n  a ~ dnorm(0, 1)\n  b ~ dnorm(0, 1)\n  for (i in 1:8) {\n"
                   "    y[i] ~ dnorm(exp(-exp(a) * t[i]) + exp(-exp(b) * t[i]), 400)\n  }\n}\n",
                   {"a": one, "b": two}, {"y": list(y), "t": list(t)})


def of_products():
    for y, sd in ((2.0, 0.2), (4.0, 0.5), (1.0, 0.3)):
        def log_density(a, b):
            return -0.5 * ((y - a * b) / sd) ** 2 - 0.5 * a ** 2 - 0.5 * b ** 2
        one, two = plane(log_density, (-6, 6), (-6, 6), 3001)
        yield Case("data: product", "y = %g, sd %g" % (y, sd),
                   "model {\n  a ~ dnorm(0, 1)\n  b ~ dnorm(0, 1)\n  y ~ dnorm(a * b, %r)\n}\n" % (1 / sd ** 2),
                   {"a": one, "b": two}, {"y": y})


def of_periods():
    for y, precision in ((0.5, 400), (0.8, 100), (0.0, 100)):
        truth = line(lambda x: -0.5 * precision * (y - np.sin(x)) ** 2 - 0.5 * x ** 2 / 9, -20, 20)
        yield Case("data: sine", "y = %g" % y, "model {\n  x ~ dnorm(0, 1 / 9)\n  y ~ dnorm(sin(x), %g)\n}\n" % precision,
                   {"x": truth}, {"y": y})


def of_student_against_data():
    for at, precision in ((8, 4), (12, 1), (10, 2)):
        truth = line(lambda x: -1.5 * np.log1p(x ** 2 / 2) - 1.5 * np.log1p(precision * (at - x) ** 2 / 2), -40, 60)
        yield Case("data: tails against tails", "at %g" % at,
                   "model {\n  x ~ dt(0, 1, 2)\n  y ~ dt(x, %g, 2)\n}\n" % precision, {"x": truth}, {"y": at})


def of_independent_nodes():
    for count in (3, 6, 12):
        truth = line(lambda x: -0.5 * 16 * (4 - x ** 2) ** 2 / 16 - 0.5 * (x / 3) ** 2, -8, 8)
        yield Case("independent nodes", "%d nodes" % count,
                   "model {\n  for (i in 1:%d) {\n    x[i] ~ dnorm(0, 1 / 9)\n    y[i] ~ dnorm(x[i]^2, 1)\n  }\n}\n" % count,
                   {"x[%d]" % (i + 1): truth for i in range(count)}, {"y": [4] * count})


def of_rings():
    for radius, sd in ((2.0, 0.3), (4.0, 0.5), (1.0, 0.4)):
        def log_density(a, b):
            return -0.5 * ((np.hypot(a, b) - radius) / sd) ** 2
        one, two = plane(log_density, (-8, 8), (-8, 8))
        yield Case("ring", "radius %g, sd %g" % (radius, sd),
                   "model {\n  a ~ dflat()\n  b ~ dflat()\n"
                   "  factor(-0.5 * (sqrt(a^2 + b^2 + 1.0E-12) - %g)^2 / %r)\n}\n" % (radius, sd ** 2), {"a": one, "b": two})


def of_exchangeable_means():
    for low, middle, high in ((-3, 0, 3), (-4, 0, 2), (-2, 0, 2)):
        y = np.array([low - 0.3, low, low + 0.4, middle - 0.5, middle + 0.1, middle + 0.6, high - 0.2, high + 0.1, high + 0.5])
        grid = np.linspace(-8, 8, 161)
        kernel = np.exp(-0.5 * ((y[:, None] - grid[None, :]) / 0.5) ** 2) + 1e-300
        value = -0.5 * (grid[:, None, None] ** 2 + grid[None, :, None] ** 2 + grid[None, None, :] ** 2) / 9
        for row in kernel:
            value = value + np.log(row[:, None, None] + row[None, :, None] + row[None, None, :])
        weights = np.exp(value - value.max()).sum(axis=(1, 2))
        truth = moments(grid, weights)
        yield Case("label switching", "means %g, %g, %g" % (low, middle, high),
                   "model {\n  for (k in 1:3) { m[k] ~ dnorm(0, 1 / 9) }\n  for (i in 1:9) {\n"
                   "    factor(log(exp(-2 * (y[i] - m[1])^2) + exp(-2 * (y[i] - m[2])^2) + exp(-2 * (y[i] - m[3])^2)))\n  }\n}\n",
                   {"m[%d]" % (k + 1): truth for k in range(3)}, {"y": list(y)})


def of_coupled_wells():
    """A chain of double wells, each close to the one before it: the whole chain has two main modes."""
    for count, coupling, field in ((3, 4.0, 0.2), (6, 2.0, 0.1), (10, 3.0, 0.05)):
        grid = np.linspace(-3, 3, 601)
        well = -4 * (grid ** 2 - 1) ** 2 + field * grid
        bond = np.exp(-0.5 * coupling * (grid[:, None] - grid[None, :]) ** 2)
        forward, backward = [np.exp(well)], [np.ones_like(grid)]
        for _ in range(count - 1):
            forward.append(np.exp(well) * (bond @ forward[-1]))
            backward.append(bond @ (np.exp(well) * backward[-1]))
        truth = {"x[%d]" % (t + 1): moments(grid, forward[t] * backward[count - 1 - t]) for t in range(count)}
        yield Case("coupled wells", "%d nodes, coupling %g" % (count, coupling),
                   "model {\n  for (t in 1:%d) {\n    x[t] ~ dflat()\n    factor(%g * x[t] - 4 * (x[t]^2 - 1)^2)\n  }\n"
                   "  for (t in 2:%d) { factor(-0.5 * %g * (x[t] - x[t-1])^2) }\n}\n" % (count, field, count, coupling), truth)


def of_absolute_values():
    for y, precision, prior in ((3, 25, 0.5), (1, 9, 0.3), (5, 100, 0.2)):
        truth = line(lambda x: -0.5 * precision * (y - np.abs(x)) ** 2 - 0.125 * (x - prior) ** 2, -12, 12)
        yield Case("data: absolute value", "y = %g" % y,
                   "model {\n  x ~ dnorm(%g, 0.25)\n  y ~ dnorm(abs(x), %g)\n}\n" % (prior, precision), {"x": truth}, {"y": y})


def of_edges():
    for a, b in ((0.5, 0.5), (0.7, 0.4), (2.0, 0.5)):
        truth = a / (a + b), math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
        yield Case("mass at the edges", "beta(%g, %g)" % (a, b), "model { p ~ dbeta(%g, %g) }\n" % (a, b), {"p": truth})


def of_bananas():
    for precision in (4, 1, 10):
        truth = line(lambda x: -0.5 * x ** 2, -9, 9), (1.0, math.sqrt(2 + 1 / precision))
        yield Case("banana", "precision %g" % precision,
                   "model {\n  a ~ dnorm(0, 1)\n  b ~ dnorm(a^2, %g)\n}\n" % precision, {"a": truth[0], "b": truth[1]})


def of_vector_pairs():
    """Independent places in the plane, each with a mirror image."""
    for count in (1, 2, 3):
        case = next(iter(of_anchors()))
        text = ("model {\n  for (i in 1:%d) {\n    a[i] ~ dnorm(0, 0.01)\n    b[i] ~ dnorm(0.3, 1 / 9)\n"
                "    d1[i] ~ dnorm(sqrt((a[i] + 3)^2 + b[i]^2), 1 / 0.09)\n"
                "    d2[i] ~ dnorm(sqrt((a[i] - 3)^2 + b[i]^2), 1 / 0.09)\n  }\n}\n" % count)
        truth = {}
        for i in range(count):
            truth["a[%d]" % (i + 1)], truth["b[%d]" % (i + 1)] = case.truth["a"], case.truth["b"]
        yield Case("independent mirror images", "%d places" % count, text, truth, {"d1": [5.0] * count, "d2": [5.0] * count})


# One mode, ordinary

def of_ordinary():
    yield Case("ordinary: normal", "1", "model { x ~ dnorm(2, 4) }\n", {"x": (2, 0.5)})
    yield Case("ordinary: normal", "20", "model { for (i in 1:20) { x[i] ~ dnorm(i, i) } }\n",
               {"x[%d]" % i: (i, i ** -0.5) for i in range(1, 21)})
    yield Case("ordinary: student", "5 freedoms", "model { for (i in 1:4) { x[i] ~ dt(0, 1, 8) } }\n",
               {"x[%d]" % i: (0, math.sqrt(8 / 6)) for i in range(1, 5)})
    truth = line(lambda x: np.where(x > 0, 9 * np.log(np.maximum(x, 1e-300)) - 3 * x, -np.inf), 0, 30)
    yield Case("ordinary: gamma", "10, 3", "model { x ~ dgamma(10, 3) }\n", {"x": truth})
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=30), 3)
    y = np.round(1 + 2 * x + rng.normal(size=30), 3)
    design = np.stack([np.ones(30), x], axis=1)
    precision = design.T @ design + 0.01 * np.eye(2)
    cov = np.linalg.inv(precision)
    mean = cov @ design.T @ y
    yield Case("ordinary: line", "30 points",
               "model {\n  a ~ dnorm(0, 0.01)\n  b ~ dnorm(0, 0.01)\n  for (i in 1:30) { y[i] ~ dnorm(a + b * x[i], 1) }\n}\n",
               {"a": (mean[0], math.sqrt(cov[0, 0])), "b": (mean[1], math.sqrt(cov[1, 1]))}, {"x": list(x), "y": list(y)})


def of_improper():
    """The likelihood is flat where tau is large, and the prior nearly improper: log tau has a long flat end."""
    for count, most in ((5, 1e-10), (8, 1e-6), (5, 1e-4)):
        y = np.round(np.random.default_rng(count).normal(size=count) * 1.5, 2)
        u = np.linspace(-12, math.log(1 / most) + 4, 400001)
        v = 1 + np.exp(-u)
        value = most * u - most * np.exp(u) - 0.5 * count * np.log(v) - 0.5 * (y ** 2).sum() / v
        truth = line(lambda x: np.interp(x, u, value), u[0], u[-1])
        yield Case("practically improper", "%d, %g" % (count, most),
                   "model {\n  tau ~ dgamma(%g, %g)\n  for (i in 1:%d) {\n    t[i] ~ dnorm(0, tau)\n    y[i] ~ dnorm(t[i], 1)\n"
                   "  }\n  u <- log(tau)\n}\n" % (most, most, count), {"u": truth}, {"y": list(y)}, ["u"])


def cases(first_only=False):
    """All cases; or of those whose truth takes long to compute, the first setting alone."""
    for make in (of_equal_mass, of_light_modes, of_spikes, of_three_modes, of_squares, of_anchors, of_two_classes,
                 of_exponentials, of_products, of_periods, of_student_against_data, of_independent_nodes, of_rings,
                 of_exchangeable_means, of_coupled_wells, of_absolute_values, of_edges, of_bananas, of_vector_pairs,
                 of_ordinary, of_improper):
        yield from make()
    yield from derived_cases.cases()
    yield from walk_cases.cases(first_only)
