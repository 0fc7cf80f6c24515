"""Walks, trends and other series, whose truth is that of a Gaussian, given hyperparameters on a grid."""
import math

import numpy as np

from truth import Case, grid_truth


def gaussian_truth(cov, mean):
    sd = np.sqrt(np.diag(cov))
    return [(m, s, m - 1.6448536 * s, m, m + 1.6448536 * s) for m, s in zip(mean, sd)]


def of_walks():
    for steps, tau in ((100, 100), (100, 4), (300, 25)):
        rng = np.random.default_rng(steps + tau)
        x = np.cumsum(rng.normal(size=steps) / math.sqrt(tau))
        y = np.round(x + rng.normal(size=steps), 3)
        precision = np.eye(steps)
        precision[0, 0] += 0.01
        for t in range(1, steps):
            precision[t, t] += tau
            precision[t - 1, t - 1] += tau
            precision[t, t - 1] -= tau
            precision[t - 1, t] -= tau
        cov = np.linalg.inv(precision)
        mean = cov @ y
        yield Case("walk", "%d steps, precision %g" % (steps, tau),
                   "model {\n  x[1] ~ dnorm(0, 0.01)\n  for (t in 2:%d) { x[t] ~ dnorm(x[t-1], %g) }\n"
                   "  for (t in 1:%d) { y[t] ~ dnorm(x[t], 1) }\n}\n" % (steps, tau, steps),
                   {"x[%d]" % (t + 1): row for t, row in enumerate(gaussian_truth(cov, mean))}, {"y": list(y)})



def walk_precision(steps, tau):
    q = np.zeros((steps, steps))
    for t in range(1, steps):
        q[t, t] += tau
        q[t - 1, t - 1] += tau
        q[t, t - 1] -= tau
        q[t - 1, t] -= tau
    return q


def of_local_trends():
    """level[t] ~ N(level[t-1] + slope[t-1], 1/a), slope[t] ~ N(slope[t-1], 1/b), y[t] ~ N(level[t], 1)."""
    for steps, a, b in ((50, 4, 100), (150, 10, 400), (150, 1, 25)):
        g = np.random.default_rng(steps + a)
        slope = np.cumsum(g.normal(size=steps) / math.sqrt(b))
        level = np.cumsum(slope + g.normal(size=steps) / math.sqrt(a))
        y = np.round(level + g.normal(size=steps), 3)
        q = np.zeros((2 * steps, 2 * steps))
        rows = [({0: 1.0}, 0.01), ({steps: 1.0}, 1.0)]
        for t in range(1, steps):
            rows += [({t: 1.0, t - 1: -1.0, steps + t - 1: -1.0}, a), ({steps + t: 1.0, steps + t - 1: -1.0}, b)]
        rows += [({t: 1.0}, 1.0) for t in range(steps)]
        for row, weight in rows:
            for i, u in row.items():
                for j, v in row.items():
                    q[i, j] += weight * u * v
        cov = np.linalg.inv(q)
        mean = cov @ np.concatenate([y, np.zeros(steps)])
        names = ["level[%d]" % (t + 1) for t in range(steps)] + ["slope[%d]" % (t + 1) for t in range(steps)]
        yield Case("local trend", "%d steps, precisions %g, %g" % (steps, a, b),
                   "model {\n  level[1] ~ dnorm(0, 0.01)\n  slope[1] ~ dnorm(0, 1)\n  for (t in 2:%d) {\n"
                   "    level[t] ~ dnorm(level[t-1] + slope[t-1], %g)\n    slope[t] ~ dnorm(slope[t-1], %g)\n  }\n"
                   "  for (t in 1:%d) { y[t] ~ dnorm(level[t], 1) }\n}\n" % (steps, a, b, steps),
                   dict(zip(names, gaussian_truth(cov, mean))), {"y": list(y)})


def of_walks_with_unknown_steps():
    """The precision of the steps is unknown: its posterior on a grid, by the marginal likelihood of y."""
    for steps, tau in ((30, 4), (100, 25), (60, 1)):
        g = np.random.default_rng(3 * steps + tau)
        x = np.cumsum(g.normal(size=steps) / math.sqrt(tau))
        y = np.round(x + g.normal(size=steps), 3)
        walk, first = walk_precision(steps, 1.0), np.zeros((steps, steps))
        first[0, 0] = 0.01
        u = np.linspace(-4, 12, 161)
        value, means, widths = [], [], []
        for tau_u in np.exp(u):
            prior = tau_u * walk + first
            both = prior + np.eye(steps)
            cov = np.linalg.inv(both)
            mean = cov @ y
            value.append(0.5 * np.linalg.slogdet(prior)[1] - 0.5 * np.linalg.slogdet(both)[1] + 0.5 * y @ mean)
            means.append(mean)
            widths.append(np.diag(cov))
        value = np.array(value) + 2 * u - 0.2 * np.exp(u)  # tau ~ gamma(2, 0.2)
        weights = np.exp(value - value.max())
        weights /= weights.sum()
        mean = weights @ np.array(means)
        sd = np.sqrt(weights @ (np.array(widths) + (np.array(means) - mean) ** 2))
        truth = {"x[%d]" % (t + 1): (mean[t], sd[t]) for t in range(steps)}
        fine = np.linspace(-4, 12, 100001)
        truth["tau"] = grid_truth(np.exp(fine), np.interp(fine, u, value))
        truth["s"] = grid_truth(np.exp(-fine / 2), np.interp(fine, u, value))
        yield Case("walk, unknown steps", "%d steps, precision %g" % (steps, tau),
                   "model {\n  tau ~ dgamma(2, 0.2)\n  x[1] ~ dnorm(0, 0.01)\n  for (t in 2:%d) { x[t] ~ dnorm(x[t-1], tau) }\n"
                   "  for (t in 1:%d) { y[t] ~ dnorm(x[t], 1) }\n  s <- 1 / sqrt(tau)\n}\n" % (steps, steps),
                   truth, {"y": list(y)}, ["s"])


def of_censored_weibulls():
    """Times with shape r and scale: two unknowns, on a grid."""
    for n, last in ((30, 1.0), (60, 1.2), (60, 0.6)):
        g = np.random.default_rng(n)
        x = np.round(g.normal(size=n), 2)
        t = (g.exponential(size=n) * np.exp(-0.5 * x)) ** (1 / 1.5)
        seen = t < last
        t = np.round(np.minimum(t, last), 4)
        r, b, c = np.linspace(0.3, 4, 75), np.linspace(-3, 3, 91), np.linspace(-3, 3, 91)
        value = np.empty((r.size, b.size, c.size))
        for k, shape in enumerate(r):
            rate = b[:, None, None] + c[None, :, None] * x[None, None, :]
            total = (seen * (math.log(shape) + rate + (shape - 1) * np.log(t)) - np.exp(rate) * t ** shape).sum(axis=2)
            value[k] = total - shape - 0.05 * b[:, None] ** 2 - 0.05 * c[None, :] ** 2
        weights = np.exp(value - value.max())
        with np.errstate(divide="ignore"):
            truth = {"r": grid_truth(r, np.log(weights.sum(axis=(1, 2)))), "b": grid_truth(b, np.log(weights.sum(axis=(0, 2)))),
                     "c": grid_truth(c, np.log(weights.sum(axis=(0, 1))))}
        yield Case("censored Weibull", "%d, %d seen" % (n, seen.sum()),
                   "model {\n  r ~ dexp(1)\n  b ~ dnorm(0, 0.1)\n  c ~ dnorm(0, 0.1)\n  for (i in 1:%d) {\n"
                   "    is.cens[i] ~ dinterval(t[i], last)\n    t[i] ~ dweib(r, exp(b + c * x[i]))\n  }\n}\n" % n, truth,
                   {"x": list(x), "t": [v if s else math.nan for v, s in zip(t, seen)],
                    "is.cens": [0.0 if s else 1.0 for s in seen], "last": last})


def cases(first_only):
    for make in (of_walks, of_local_trends, of_walks_with_unknown_steps, of_censored_weibulls):
        settings = make()
        if first_only:
            yield next(settings)
        else:
            yield from settings
