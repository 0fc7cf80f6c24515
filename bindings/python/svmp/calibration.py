"""Simulation-based calibration: does inference recover what the prior drew?"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._draws import VarNames
from ._recipe import TextRecipe
from ._sample import Array
from .errors import Error
from .model import Model
from .table import Table

if TYPE_CHECKING:
    from .fit import Fit

_COMPARED = 99  # draws of a fit that a rank is counted among, at most


def _probability(distance: float, count: int) -> float:
    """That the largest distance of an empirical distribution function from its own is as large (Kolmogorov), nearly."""
    scaled = distance * (np.sqrt(count) + 0.12 + 0.11 / np.sqrt(count))
    terms = [2 * (-1) ** (k - 1) * np.exp(-2 * (k * scaled) ** 2) for k in range(1, 101)]
    return float(np.clip(np.sum(terms), 0, 1)) if scaled > 0.2 else 1.0


class Calibration:
    """Ranks of what the prior drew among the draws of the fits. Made by :func:`svmp.sbc`.

    Attributes:
        names: the unknown values, "theta.3.1".
        ranks: how many draws lie below the truth, (simulations, names), from 0 to ``draws``.
        draws: how many draws each rank is counted among.
        failed: the errors of simulations without a fit, by their numbers.
        verdicts: how many fits had each verdict.
    """

    def __init__(self, names: list[str], ranks: NDArray[np.intp], draws: int, failed: dict[int, str], verdicts: dict[str, int]) -> None:
        self.names, self.ranks, self.draws, self.failed, self.verdicts = names, ranks, draws, failed, verdicts

    @property
    def p_values(self) -> dict[str, float]:
        """Of each value, the probability of ranks at least as far from uniform if inference is right (Kolmogorov and Smirnov)."""
        made = {}
        for name, ranks in zip(self.names, self.ranks.T):
            shares = np.sort((ranks + 0.5) / (self.draws + 1))
            steps = np.arange(len(shares) + 1) / len(shares)
            distance = max(np.max(steps[1:] - shares), np.max(shares - steps[:-1])) - 0.5 / (self.draws + 1)
            made[name] = _probability(max(float(distance), 0.0), len(shares))
        return made

    @property
    def calibrated(self) -> bool:
        """Whether no value has a p-value below 1 %, shared among all values (Bonferroni)."""
        return min(self.p_values.values()) >= 0.01 / len(self.names)

    def summary(self) -> Any:
        """Of each value, the mean and sd of its rank as shares, 0.5 and 0.289 if inference is right, and the p-value.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> list(svmp.sbc(m, 10, progressbar=False).summary().index)
        ['mu']
        """
        shares = (self.ranks + 0.5) / (self.draws + 1)
        columns = {"mean": shares.mean(axis=0), "sd": shares.std(axis=0), "p": np.array(list(self.p_values.values()))}
        return Table(list(self.names), columns).best()

    def plot(self, var_names: VarNames = None, bins: int = 20) -> Any:
        """A histogram of the ranks of each value, with the 99 % band of uniform ones; needs matplotlib. Returns the figure."""
        from ._plots import rank_histograms

        return rank_histograms(self, var_names, bins)

    def __repr__(self) -> str:
        worst = min(self.p_values, key=lambda name: self.p_values[name])
        word = "uniform" if self.calibrated else "NOT uniform"
        lost = f"; {len(self.failed)} failed" if self.failed else ""
        return f"<svmp.Calibration: the ranks of {len(self.ranks)} simulations are {word}: {worst} has p = {self.p_values[worst]:.2g}{lost}>"


def sbc(
    model: Model,
    simulations: int = 100,
    *,
    method: Optional[str] = None,
    seed: int = 1,
    workers: int = 0,
    progressbar: bool = True,
    callback: Optional[Callable[[int, "Fit"], Any]] = None,
    particles: Optional[int] = None,
    iterations: Optional[int] = None,
    chains: Optional[int] = None,
    warmup: Optional[int] = None,
    draws: Optional[int] = None,
    coordinates: Optional[str] = None,
) -> Calibration:
    """Simulation-based calibration (Talts et al. 2018): draws unknowns and data from the priors, infers the unknowns from the data,
    and ranks the truth among the draws. If inference is right, the ranks are uniform.

    Args:
        model: of a text with proper priors. Its data give sizes and covariates, and which values are missing.
        simulations: how many data sets are drawn and fitted.
        method, particles, iterations, chains, warmup, draws, coordinates: of the fits, as for :meth:`Model.fit`.
        seed: of the prior; fit k has the seed ``seed + k``.
        workers: how many fits run at once, each on one thread; 0: one for each processor.
        callback: called with the number of each simulation and its fit.

    >>> import svmp
    >>> m = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]})
    >>> made = svmp.sbc(m, 20, progressbar=False)
    >>> made.ranks.shape, made.calibrated
    ((20, 1), True)
    """
    recipe = model._recipe
    if not isinstance(recipe, TextRecipe):
        raise TypeError("sbc: only models of a text have priors to draw from")
    if isinstance(simulations, bool) or not isinstance(simulations, (int, np.integer)) or simulations < 1:
        raise ValueError(f"simulations: expected a number of at least 1, not {simulations!r}")
    prior = model.prior_predictive(int(simulations), seed=seed)
    observed = [name for name in model.observed if name in prior]
    if not observed:
        raise ValueError("sbc: the data have no values of stochastic nodes, so there is nothing to learn from")
    drawn: dict[str, Array] = {name: prior[name] for name in observed}
    names = [name for name in prior.names if name in set(model.names)]
    failed: dict[int, str] = {}
    verdicts: dict[str, int] = {}

    def one(k: int) -> Optional[Array]:
        values = {}
        for name in observed:
            missing = np.isnan(model.observed[name])
            values[name] = np.ascontiguousarray(np.where(missing, np.nan, drawn[name][k]))
        try:
            made = Model(recipe.with_values(values), threads=1).fit(
                method,
                particles,
                seed=seed + k,
                progressbar=False,
                iterations=iterations,
                chains=chains,
                warmup=warmup,
                draws=draws,
                coordinates=coordinates,
            )
        except Error as error:
            failed[k] = str(error)
            return None
        verdicts[made.verdict.word] = verdicts.get(made.verdict.word, 0) + 1
        if callback is not None:
            callback(k, made)
        rows = [made.names.index(name) for name in names]
        return made.values[rows]

    truth = np.stack([prior.values[prior.names.index(name)] for name in names], axis=1)
    ranks: list[NDArray[np.intp]] = []
    compared = 0
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for k, drawn_values in enumerate(_watched(pool.map(one, range(int(simulations))), int(simulations), progressbar)):
            if drawn_values is None:
                continue
            count = drawn_values.shape[1]
            chosen = drawn_values[:, np.linspace(0, count - 1, min(count, _COMPARED)).astype(int)]
            compared = chosen.shape[1]
            ranks.append((chosen < truth[k][:, None]).sum(axis=1))
    if not ranks:
        raise Error(f"sbc: no simulation has a fit; the first: {failed[min(failed)]}")
    return Calibration(names, np.array(ranks), compared, dict(sorted(failed.items())), verdicts)


def _watched(fits: Any, count: int, progressbar: bool) -> Any:
    import sys

    show = progressbar and sys.stderr.isatty()
    for k, made in enumerate(fits):
        if show:
            print(f"\rsimulation {k + 1} of {count}", end="" if k + 1 < count else "\n", file=sys.stderr, flush=True)
        yield made
