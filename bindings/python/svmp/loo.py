"""Leave-one-out cross-validation, and the comparison of models by it."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._context import Context, logger
from ._library import lib
from ._recipe import Reading, TextRecipe
from ._sample import Array, Particles, Sample
from .errors import Error
from .predictions import predict
from .table import Table

if TYPE_CHECKING:
    from .fit import Fit


@dataclass(frozen=True)
class Loo:
    """How well a model predicts each observation from the others. Made by :meth:`Fit.loo`.

    Attributes:
        elpd: the sum of the log densities of all observations, each given the others: larger is better.
        error: its standard error over the observations.
        parameters: the effective number of parameters.
        pointwise: the log density of each observation given the others.
        shape: how heavy the tail of the weights is, for each observation (Pareto's k).
        limit: the largest shape at which the draws suffice.
        refitted: the observations whose log density is that of a fit without them.
    """

    elpd: float
    error: float
    parameters: float
    pointwise: Array
    shape: Array
    limit: float
    refitted: tuple[int, ...] = ()

    @property
    def beyond(self) -> list[int]:
        """The observations, from 0, whose log density cannot be trusted."""
        return [int(k) for k in np.flatnonzero(~(self.shape <= self.limit)) if k not in self.refitted]

    def __repr__(self) -> str:
        bad = self.beyond
        note = f"; not to be trusted for {len(bad)} of the observations, try loo(refit=True)" if bad else ""
        refitted = f"; {len(self.refitted)} refitted" if self.refitted else ""
        return (
            f"<svmp.Loo: elpd {self.elpd:.1f}, error {self.error:.1f}, effective parameters {self.parameters:.1f}, "
            f"{len(self.pointwise)} observations{refitted}{note}>"
        )


def _sum(pointwise: Array, likelihood: Array, shape: Array, limit: float, refitted: tuple[int, ...]) -> Loo:
    count = len(pointwise)
    largest = likelihood.max(axis=0)
    fitted = float(np.sum(largest + np.log(np.mean(np.exp(likelihood - largest), axis=0))))
    error = float(np.sqrt(count * np.var(pointwise, ddof=1))) if count > 1 else float("nan")
    elpd = float(pointwise.sum())
    return Loo(elpd, error, fitted - elpd, pointwise, shape, limit, refitted)


def make_loo(fit: "Fit", refit: bool) -> Loo:
    likelihood = fit.log_likelihood
    if likelihood is None:
        raise TypeError("loo: the fit has no log likelihood; it needs a model of a text with observations")
    each = np.ascontiguousarray(likelihood.reshape(len(likelihood), -1).T)
    count = len(each)
    context = Context()
    sample = Sample([f"log_lik.{k + 1}" for k in range(count)], each)
    density, shape = np.empty(count), np.empty(count)
    particles = Particles(context, sample)
    context.check(lib.svmp_particles_loo(particles.handle, density.ctypes.data, shape.ctypes.data))
    limit = float(lib.svmp_loo_limit(ctypes.c_size_t(len(likelihood))))
    made = _sum(density, each.T, shape, limit, ())
    if not refit or not made.beyond:
        return made
    again = tuple(made.beyond)
    for k in again:
        density[k] = _without(fit, k, count)
    return _sum(density, each.T, shape, limit, again)


def _without(fit: "Fit", k: int, count: int) -> float:
    """The log density of observation k by a fit without it."""
    recipe = fit.model._recipe if fit.model is not None else None
    observed = [(name, values) for name, values in fit.observed.items() if not np.isnan(values).all()]
    if fit.model is None or not isinstance(recipe, TextRecipe) or len(observed) != 1 or observed[0][1].ndim != 1:
        raise TypeError("loo: a refit needs a model of a text with one observed vector")
    name, values = observed[0]
    at = np.flatnonzero(~np.isnan(values).ravel())
    if len(at) != count:
        raise TypeError(f"loo: the observations of '{name}' are not independent elements")
    without = np.array(values, dtype=np.float64)
    without.ravel()[at[k]] = np.nan
    made = type(fit.model)(recipe.with_values({name: np.ascontiguousarray(without)}), threads=fit.model._threads)
    refitted = made.fit(fit.method if fit.method != "unknown" else None, progressbar=False)
    if not refitted.verdict:
        logger.warning("loo: the fit without observation %d: %s", k + 1, refitted.verdict.sentence)
    draws = replace(refitted.sample_data, statistics={}, series=[])
    drawn, compiled = predict(recipe, fit.model._threads, draws, Reading("log_lik"), 1)
    likelihood = compiled.find_arrays(drawn.names)["log_lik"].take(drawn.values).reshape(len(refitted), -1)[:, k]
    largest = likelihood.max()
    return float(largest + np.log(np.mean(np.exp(likelihood - largest))))


def _observed(fit: "Fit") -> dict[str, Array]:
    return {name: np.asarray(values) for name, values in fit.observed.items() if not np.isnan(values).all()}


def compare(fits: Mapping[str, "Fit"], *, refit: bool = False) -> Any:
    """Compares models of the same data by leave-one-out cross-validation, the best one first: a DataFrame, or a :class:`Table`.

    ``difference`` is how much ``elpd`` falls short of the best one, and ``difference_error`` its standard error over the observations:
    a difference below twice its error, or below 4, says little. ``beyond`` counts the observations that cannot be trusted.

    Observations are matched in the order of the model texts: loops over arrays of several dimensions must have the same order in all of
    them.

    Args:
        fits: by names of your choice.
        refit: fit again without each observation that changes the posterior too much for importance sampling.

    >>> import svmp
    >>> data = {"x": [1.0, 2, 3, 4, 5, 6, 7, 8], "y": [1.1, 1.9, 3.2, 4.1, 4.9, 6.2, 6.9, 8.1]}
    >>> prior = "a ~ dnorm(0, 0.01)  b ~ dnorm(0, 0.01)  tau ~ dgamma(1, 1)"
    >>> line = svmp.Model("model { for (i in 1:8) { y[i] ~ dnorm(a + b * x[i], tau) } " + prior + "}", data)
    >>> flat = svmp.Model("model { for (i in 1:8) { y[i] ~ dnorm(a + 0 * b * x[i], tau) } " + prior + "}", data)
    >>> list(svmp.compare({"flat": flat.fit(progressbar=False), "line": line.fit(progressbar=False)}).index)
    ['line', 'flat']
    """
    if not isinstance(fits, Mapping) or not fits:
        raise TypeError('compare: expected fits by name, {"a": fit, "b": fit}')
    made: dict[str, Loo] = {}
    for name, fit in fits.items():
        try:
            made[str(name)] = fit.loo(refit=refit)
        except (TypeError, Error) as error:
            raise type(error)(f"'{name}': {error}") from error
    data = [_observed(fit) for fit in fits.values()]
    if any(set(other) != set(data[0]) or not all(np.array_equal(other[k], data[0][k], equal_nan=True) for k in other) for other in data):
        raise ValueError("compare: the fits have different observations")
    counts = {name: len(loo.pointwise) for name, loo in made.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"compare: the fits have different observations: {', '.join(f'{name} {count}' for name, count in counts.items())}")
    order = sorted(made, key=lambda name: -made[name].elpd)
    best = made[order[0]]
    differences = [best.pointwise - made[name].pointwise for name in order]
    count = len(best.pointwise)
    columns = {
        "elpd": np.array([made[name].elpd for name in order]),
        "error": np.array([made[name].error for name in order]),
        "parameters": np.array([made[name].parameters for name in order]),
        "difference": np.array([float(d.sum()) for d in differences]),
        "difference_error": np.array([float(np.sqrt(count * d.var(ddof=1))) if count > 1 else np.nan for d in differences]),
        "beyond": np.array([float(len(made[name].beyond)) for name in order]),
    }
    return Table(order, columns).best()
