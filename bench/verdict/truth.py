"""A case, and the truth about it by quadrature. Nothing here comes from svmp."""
import math

import numpy as np

QUANTILES = 0.05, 0.5, 0.95


class Case:
    """A model and what is true of its unknowns and of the quantities that it computes, `monitor`: of each the mean, the sd
    and, where known, the quantiles 5, 50 and 95 %. An infinite sd: none of them can be known."""

    def __init__(self, kind, setting, text, truth, data=None, monitor=()):
        self.kind, self.setting, self.text, self.truth, self.data = kind, setting, text, truth, data or {}
        self.monitor = monitor


def moments(points, weights):
    weights = weights / weights.sum()
    mean = (weights * points).sum()
    return mean, math.sqrt((weights * (points - mean) ** 2).sum())


def grid_truth(points, log_density):
    """Moments and quantiles of values at the points of a grid with even steps, given the log density there."""
    weights = np.exp(log_density - log_density.max())
    order = np.argsort(points, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    places = np.minimum(np.searchsorted(below, QUANTILES), len(order) - 1)
    return moments(points, weights) + tuple(points[order][places])


def of_draws(values):
    return (values.mean(), values.std()) + tuple(np.quantile(values, QUANTILES))


def line(log_density, low, high, count=400001):
    """Truth of a density of one variable, from its logarithm on a grid."""
    x = np.linspace(low, high, count)
    return grid_truth(x, log_density(x))


def plane(log_density, first, second, count=1601):
    """Those of both variables of a density of two."""
    a, b = np.linspace(*first, count), np.linspace(*second, count)
    value = log_density(a[:, None], b[None, :])
    weights = np.exp(value - value.max())
    with np.errstate(divide="ignore"):
        return grid_truth(a, np.log(weights.sum(axis=1))), grid_truth(b, np.log(weights.sum(axis=0)))


def tau_of_effects(y, prior):
    """y_i ~ N(u_i, 1), u_i ~ N(mu, s^2), mu ~ N(0, 100): integrates u and mu out, and s on a grid."""
    s = np.exp(np.linspace(-12, 12, 40001)) if prior == "half-Cauchy" else np.linspace(1e-6, 20, 100001)
    step = s if prior == "half-Cauchy" else np.ones_like(s)  # of the grid
    v = 1 + s * s
    n = len(y)
    value = -0.5 * (n - 1) * np.log(v) - 0.5 * np.log(v / n + 100) - 0.5 * ((y - y.mean()) ** 2).sum() / v
    value = value - 0.5 * y.mean() ** 2 / (v / n + 100) - 0.5 * np.log(1 / n) + np.log(step)
    if prior == "half-Cauchy":
        value = value - np.log1p(s * s)
    weights = np.exp(value - value.max())
    weights /= weights.sum()
    mean = 100 / (100 + v / n) * y.mean()
    width = 100 * (v / n) / (100 + v / n)
    centre = (weights * mean).sum()
    mu = centre, math.sqrt((weights * (width + (mean - centre) ** 2)).sum())
    return {"s": grid_truth(s, value), "icc": grid_truth(s * s / v, value), "v": grid_truth(s * s, value), "mu": mu}
