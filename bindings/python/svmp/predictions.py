"""Predictions: what is drawn or computed after a fit, given its draws, or from the priors alone."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional

from ._compiled import Compiled
from ._draws import Draws
from ._library import lib
from ._names import ArrayPlace
from ._recipe import Reading, Recipe
from ._sample import Array, Particles, Sample, sample_from

if TYPE_CHECKING:
    from .fit import Fit

_REPLICATE = re.compile(r"(.+)[._]rep")  # what the library calls the copy of an array; CSV files have no point in names


def find_replicates(arrays: dict[str, ArrayPlace], observed: Collection[str]) -> dict[str, ArrayPlace]:
    """The replicates of observed arrays, by the names of the observed arrays."""
    matches = ((_REPLICATE.fullmatch(name), place) for name, place in arrays.items())
    return {match[1]: place for match, place in matches if match and match[1] in observed}


def is_replicate(name: str) -> bool:
    return _REPLICATE.fullmatch(name) is not None


class Predictions(Draws):
    """Predictions by name. Made by :meth:`Fit.predict`, :meth:`Fit.posterior_predictive`, :meth:`Fit.derive` and
    :meth:`Model.prior_predictive`.

    >>> import svmp
    >>> m = svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 0.01) }", {"y": [1.0, 2.0, 3.0]})
    >>> prior = m.prior_predictive(500)
    >>> prior["y"].shape, prior["mu"].shape
    ((500, 3), (500,))
    """

    def __init__(self, sample: Sample, arrays: dict[str, ArrayPlace], groups: dict[str, str], other: str) -> None:
        self.replicates = find_replicates(arrays, groups)
        named = {id(place): name for name, place in self.replicates.items() if name not in arrays}
        super().__init__(sample, {named.get(id(place), name): place for name, place in arrays.items()})
        self._groups, self._other = groups, other
        sample.values.flags.writeable = False

    def groups(self) -> dict[str, dict[str, Array]]:
        """The arrays, (draws, *shape), by the groups of ArviZ that they belong to."""
        made: dict[str, dict[str, Array]] = {}
        for name, values in self.items():
            made.setdefault(self._groups.get(name, self._other), {})[name] = values
        return made

    @cached_property
    def idata(self) -> Any:
        """For ArviZ: groups such as prior, prior_predictive and predictions; a DataTree with ArviZ 1, InferenceData before it."""
        from ._idata import tree_of

        return tree_of(self.groups(), self.chains, self.draws, self.arrays)

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name}{list(place.shape) if place.shape else ''}" for name, place in list(self.arrays.items())[:6])
        return f"<svmp.Predictions: {len(self)} draws of {arrays}{', ...' if len(self.arrays) > 6 else ''}>"


def predict(recipe: Recipe, threads: int, sample: Sample, reading: Reading, seed: int) -> tuple[Sample, Compiled]:
    """Predicts from draws in the model of a recipe; also returns that model."""
    reading = reading._replace(given=sample)
    compiled = Compiled(lambda context, failures: recipe.build(context, failures, reading), threads, recipe.axes)
    given = Particles(compiled.context, sample)
    handle = compiled.create(lib.svmp_model_predict, compiled.handle, given.handle, seed)
    try:
        return sample_from(handle), compiled
    finally:
        lib.svmp_particles_free(handle)


def simulate(recipe: Recipe, threads: int, count: int, reading: Reading, seed: int) -> tuple[Sample, Compiled]:
    """Draws from the priors of the model of a recipe."""
    reading = reading._replace(simulated=True)
    compiled = Compiled(lambda context, failures: recipe.build(context, failures, reading), threads, recipe.axes)
    handle = compiled.create(lib.svmp_model_simulate, compiled.handle, count, seed)
    try:
        return sample_from(handle), compiled
    finally:
        lib.svmp_particles_free(handle)


def likelihood_of(fit: "Fit") -> Optional[Array]:
    """The log likelihood of each observation, (draws, observations)."""
    assert fit.model is not None
    made, compiled = predict(fit.model._recipe, fit.model._threads, fit.sample_data, Reading("log_lik"), 1)
    arrays = compiled.find_arrays(made.names)
    return arrays["log_lik"].take(made.values) if "log_lik" in arrays else None
