"""The result of a run: particles or draws by name, their diagnostics, and their files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from . import _html
from ._arguments import names_of
from ._context import logger
from ._draws import Draws, VarNames
from ._idata import to_idata
from ._judge import examine
from ._library import version
from ._names import ArrayPlace, find_arrays
from ._recipe import Reading
from ._run import Measured, Progress, RunResult
from ._sample import Array, Sample, compare_samples, criteria_of, read_sample, write_sample
from .errors import Error, ModelError
from .loo import Loo, make_loo
from .predictions import Predictions, find_replicates, is_replicate, likelihood_of, predict
from .table import Table
from .verdict import Verdict, judge, judge_examined, judge_sample

if TYPE_CHECKING:
    from ._compiled import Compiled
    from .model import Model
    from .report import Report

_LARGE_GROUP = 20_000_000  # numbers; idata computes larger groups only on request


@dataclass(frozen=True)
class Comparison:
    """The differences between a fit and a reference, in standard errors (docs/diagnostics.md).

    Attributes:
        mse_mean, mse_square: mean squared errors of E[x] and E[x^2].
        mmd: maximum mean discrepancy.
        largest_z: the largest |z| of means, standard deviations and the 5 % and 95 % quantiles.
        limit: the 1 % significance limit of |z|.
        rows: for each variable its means, ``z_mean``, ``sd_ratio``, ``z_sd``, and ``z_low`` and ``z_high`` of the quantiles.
    """

    mse_mean: float
    mse_square: float
    mmd: float
    largest_z: float
    limit: float
    rows: Any

    @property
    def agrees(self) -> bool:
        """Whether no |z| exceeds the limit."""
        return bool(self.largest_z <= self.limit)

    def __repr__(self) -> str:
        verb = "They agree" if self.agrees else "They differ"
        return (
            f"{verb}: the largest |z| is {self.largest_z:.3g}, the limit is {self.limit:.3g}. "
            f"MSE of E[x] {self.mse_mean:.3g}, MSE of E[x^2] {self.mse_square:.3g}, MMD {self.mmd:.3g}"
        )


@dataclass(frozen=True)
class Criteria:
    """DIC, WAIC and LOO, on the scale of the deviance: smaller is better. :meth:`Fit.loo` says more of the last.

    Attributes:
        observations: how many observations there are.
        waic, waic_error, waic_parameters: WAIC, its standard error over the observations, and the effective parameters.
        dic, dic_error, dic_parameters: DIC, its Monte Carlo standard error, and pD, half the variance of the deviance.
        deviance: the mean deviance.
        loo, loo_error, loo_parameters: LOO by importance sampling, its standard error, and the effective parameters.
        loo_beyond: how many observations change the posterior too much for it.
    """

    observations: int
    waic: float
    waic_error: float
    waic_parameters: float
    dic: float
    dic_error: float
    dic_parameters: float
    deviance: float
    loo: float
    loo_error: float
    loo_parameters: float
    loo_beyond: int


class Extension(NamedTuple):
    """What a run is continued with: its state, its arguments, and what it monitors."""

    state: bytes
    arguments: dict[str, Any]
    monitors: list[str]


class Fit(Draws):
    """Draws or particles. Made by :meth:`Model.fit`, :meth:`Model.sample`, :meth:`Model.exact` or :func:`svmp.load`.

    Attributes:
        names: the names of the single values, such as "theta.3.1".
        values: ``values[i, l]`` is value ``i`` of draw or particle ``l``; draws of chains follow one another.
        chains, draws: the number of chains and of draws per chain; particles count as one chain.
        statistics: ``lp__`` and the statistics of samplers, one number for each particle.
        series: numbers along a dimension of the run, such as ``largest_phi`` along ``iteration``.
        settings: the options of the run.
        method, outcome, iterations, seconds: the method, how the run ended, and how long it took.
        verdict: whether the fit can be used; a true :class:`Verdict` says yes.
    """

    def __init__(
        self,
        sample: Sample,
        arrays: dict[str, ArrayPlace],
        *,
        observed: Optional[dict[str, Array]] = None,
        model: Optional["Model"] = None,
        result: Optional[RunResult] = None,
        record: Optional[dict[str, str]] = None,
        requested: Optional[dict[str, Optional[bool]]] = None,
    ) -> None:
        super().__init__(sample, {})
        self._requested: dict[str, Optional[bool]] = dict(requested or {})
        self._pointwise = arrays.get("log_lik")
        self._replicates = find_replicates(arrays, observed or ())
        besides = {id(place) for place in (self._pointwise, *self._replicates.values())}
        self.arrays = {name: place for name, place in arrays.items() if id(place) not in besides}
        self.model = model
        self.observed: dict[str, Array] = dict(observed or {})
        self.settings: dict[str, str] = dict(result.settings) if result else dict(record or {})
        self.method: str = result.method if result else self.settings.get("method", "unknown")
        self.outcome: str = result.outcome if result else self.settings.get("outcome", "unknown")
        self.iterations: int = result.iterations if result else int(self.settings.get("iterations done", 0))
        self.seconds: float = result.seconds if result else float(self.settings.get("seconds", "nan"))
        self.interrupted: bool = bool(result and result.interrupted)
        self.measured: Optional[Measured] = result.measured if result else None
        self.verdict: Verdict = judge(result) if result else judge_sample(sample, self.settings)
        for array in (sample.values, *sample.statistics.values()):
            array.flags.writeable = False

    _extension: Optional[Extension] = None

    def extend(
        self,
        *,
        draws: Optional[int] = None,
        iterations: Optional[int] = None,
        monitor: VarNames = None,
        progressbar: bool = True,
        callback: Optional[Callable[[Progress], Any]] = None,
    ) -> "Fit":
        """Continues the run to a larger number of draws or iterations in all: the fit that one long run would have given, to the
        same bits. The run must have been ``extendable=True``.

        Args:
            draws: draws of each chain in all, with NUTS.
            iterations: iterations in all, with methods of particles.
            monitor: other nodes to report; None: the same.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> short = m.sample(100, progressbar=False, extendable=True)
        >>> bool((short.extend(draws=200, progressbar=False)["mu"] == m.sample(200, progressbar=False)["mu"]).all())
        True
        """
        if self._extension is None or self.model is None:
            raise TypeError("extend: the state of the run was not kept: fit(..., extendable=True)")
        if (draws is None) == (iterations is None):
            raise TypeError("extend: give draws, or iterations")
        arguments = {**self._extension.arguments, **({"draws": draws} if iterations is None else {"iterations": iterations})}
        arguments["monitor"] = self._extension.monitors if monitor is None else monitor
        with tempfile.TemporaryDirectory() as folder:
            state = os.path.join(folder, "state")
            Path(state).write_bytes(self._extension.state)
            return self.model.fit(resume=state, extendable=True, progressbar=progressbar, callback=callback, **arguments)

    @classmethod
    def _of_run(cls, result: RunResult, compiled: "Compiled", model: "Model", requested: dict[str, Optional[bool]]) -> "Fit":
        arrays = compiled.find_arrays(result.sample.names)
        return cls(result.sample, arrays, observed=model.observed, model=model, result=result, requested=requested)

    # ---- values ---------------------------------------------------------------------------------

    @property
    def statistics(self) -> dict[str, Array]:
        return self.sample_data.statistics

    @cached_property
    def particles(self) -> "Fit":
        """The particles that Stein's transport made: the answer of the default method in few, as a fit of its own. Of other methods,
        the fit itself."""
        compressed = self.sample_data.compressed
        if compressed is None:
            return self
        arrays = find_arrays(compressed.names)
        arrays.update({name: place for name, place in self.arrays.items() if name in arrays})
        return Fit(compressed, arrays, observed=self.observed, model=self.model, record=self.record, requested=self._requested)

    @property
    def series(self) -> dict[str, tuple[Array, Array]]:
        """Each series as (coordinates, values): ``iteration, phi = fit.series["largest_phi"]``."""
        along = {s.name: s.values for s in self.sample_data.series}
        return {s.name: (along.get(s.along, np.arange(len(s.values), dtype=np.float64)), s.values) for s in self.sample_data.series if s.name != s.along}

    def __getitem__(self, name: str) -> Array:
        """All particles of an array, ``(particles, *shape)``, or of an element, ``fit["a[1]"]``; known elements are
        filled in."""
        if name == "log_lik" and self._pointwise is not None:
            return self._pointwise.take(self.values)
        if name in self.statistics:
            return np.array(self.statistics[name])
        return super().__getitem__(name)

    def _no_such(self, name: Any) -> KeyError:
        if self.model is not None and (name in self.model.computed or name in self.model.unknown):
            return KeyError(f"'{name}' was not monitored: fit(..., monitor=['{name}'])")
        return KeyError(f"'{name}': the fit has {', '.join(self.arrays)}")

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.statistics

    @property
    def _count(self) -> str:
        numbers = [(self.chains, "chain"), (self.draws, "draw")] if self.sample_data.are_chains else [(len(self), "particle")]
        return " of ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in numbers)

    # ---- diagnostics ----------------------------------------------------------------------------

    @property
    def ksd(self) -> Optional[dict[str, float]]:
        """The kernelised Stein discrepancy: u, v, ratio, limit, ...; None if it was not measured."""
        return None if self.measured is None else dict(self.measured.total)

    def verify(self, *, seconds: float = 0.0, moves: int = 0) -> Verdict:
        """Examines the particles or draws again with exact moves of the posterior, like ``svmp verify``.

        Args:
            seconds: the time limit; 0: none.
            moves: the maximum number of moves per particle; 0: the default.

        Without a model, this is :attr:`verdict`. Any verdict other than a pass is also logged.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> fit = m.fit(progressbar=False)
        >>> fit.verify().word
        'passed'
        """
        for name, value in (("seconds", seconds), ("moves", moves)):
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value >= 0:
                raise ValueError(f"{name}: expected a number of at least 0, not {value!r}")
        made = self.verdict
        if self.model is not None:
            with self.model._borrow() as compiled:
                made = judge_examined(examine(compiled, self.sample_data, self.record, float(seconds), int(moves)))
        if not made:
            logger.warning("%s", made.sentence)
        return made

    def compare(self, reference: Any) -> Comparison:
        """Compares with a reference: another fit, or the path of a file. Variables that only one of them has are left out; a
        message of the logger ``svmp`` names them.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> fit = m.fit(progressbar=False)
        >>> fit.compare(m.sample(progressbar=False)).agrees
        True
        """
        if not isinstance(reference, (Fit, str, os.PathLike)):
            raise TypeError(f"compare: expected a fit or the path of a file, not {type(reference).__name__}")
        other = reference.sample_data if isinstance(reference, Fit) else read_sample(reference)
        shared = set(self.names) & set(other.names)
        if not shared:
            raise ValueError("compare: the reference has none of the variables of the fit")
        for whose, names in (("the fit", self.names), ("the reference", other.names)):
            alone = [name for name in names if name not in shared]
            if alone:
                logger.info("compare: only %s has %s%s", whose, ", ".join(alone[:5]), ", ..." if len(alone) > 5 else "")
        ours, theirs = self.sample_data.without(set(self.names) - shared), other.without(set(other.names) - shared)
        comparison, rows, limit = compare_samples(ours, theirs)
        columns = {
            name: np.array([getattr(row, name) for row in rows])
            for name in ("mean", "reference_mean", "z_mean", "sd_ratio", "z_sd", "z_low", "z_high")
        }
        largest = np.nanmax(np.abs([columns[name] for name in ("z_mean", "z_sd", "z_low", "z_high")]))
        table = Table(list(ours.names), columns).best()
        return Comparison(comparison.mse_mean, comparison.mse_square, comparison.mmd, float(largest), limit, table)

    @cached_property
    def criteria(self) -> Optional[Criteria]:
        """DIC and WAIC from :attr:`log_likelihood`; None for a model without one."""
        pointwise = self.log_likelihood
        if pointwise is None:
            return None
        each = pointwise.reshape(len(pointwise), -1).T
        names = ["deviance", *(f"log_lik.{k + 1}" for k in range(len(each)))]
        made = criteria_of(replace(self.sample_data, names=names, values=np.vstack([-2 * each.sum(axis=0), each]), series=[]))
        return Criteria(**{name: getattr(made, name) for name in Criteria.__dataclass_fields__})

    def loo(self, *, refit: bool = False) -> Loo:
        """Leave-one-out cross-validation: how well each observation is predicted from the others (Vehtari et al. 2024).

        Args:
            refit: fit again without each observation that changes the posterior too much for importance sampling.

        >>> import svmp
        >>> m = svmp.Model("model { for (i in 1:4) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 0.01) }", {"y": [1.0, 2.0, 3.0, 2.5]})
        >>> made = m.fit(progressbar=False).loo()
        >>> -8 < made.elpd < -4, len(made.pointwise)
        (True, 4)
        """
        return make_loo(self, refit)

    # ---- other forms ----------------------------------------------------------------------------

    @cached_property
    def log_likelihood(self) -> Optional[Array]:
        """The log likelihood of each observation, (particles, observations), in the order of the text; None for a model without one."""
        if self._pointwise is not None:
            return self._pointwise.take(self.values)
        if self.model is None or self.model.text is None or not self.observed:
            return None
        return likelihood_of(self)

    # ---- predictions ----------------------------------------------------------------------------

    def _predict(self, what: str, data: Any, reading: Reading, seed: Optional[int], groups: dict[str, str], other: str) -> Predictions:
        if self.model is None:
            raise TypeError(f"{what}: the fit has no model; svmp.load(path, model) reads it with one")
        recipe = self.model._recipe if data is None else self.model._recipe_with(data, self.model.observed)
        seed = int(self.settings.get("seed", "1")) if seed is None else seed
        reading = reading._replace(fresh=data is not None)
        try:
            made, compiled = predict(recipe, self.model._threads, self.sample_data, reading, seed)
        except ModelError as error:
            absent = [name for name in self.model.observed if any(f"'{name}'" in message for message in error.messages)]
            if data is None or not absent:
                raise
            hint = f"predict: what is to be predicted must be in the data, as NaN: {', '.join(absent)}"
            raise ModelError([*error.messages, hint]) from None
        return Predictions(made, compiled.find_arrays(made.names), groups, other)

    def predict(self, data: Any = None, *, monitor: VarNames = None, seed: Optional[int] = None) -> Predictions:
        """Predicts new data from the draws, without another run.

        Args:
            data: the data of the new rows, as for :class:`Model`; None: those of the fit. What is to be predicted is missing
                there, or NaN. Groups that the fit does not know are new ones, drawn from their distribution.
            monitor: deterministic nodes of the text that are also computed, or ``"log_lik"``.
            seed: of the predictions; None: the seed of the fit.

        Of arrays that are observed in the new data, there are replicates.

        >>> import svmp
        >>> text = "model { for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], 4) }  a ~ dnorm(0, 0.01)  b ~ dnorm(0, 0.01) }"
        >>> fit = svmp.Model(text, {"N": 3, "x": [1.0, 2.0, 3.0], "y": [1.1, 2.2, 2.9]}).fit(progressbar=False)
        >>> fit.predict({"N": 2, "x": [4.0, 5.0]})["y"].shape == (len(fit), 2)
        True
        """
        monitors = ",".join(["posterior_predictive", *names_of("monitor", monitor)])
        groups = dict.fromkeys(self.observed, "predictions")
        return self._predict("predict", data, Reading(monitors), seed, groups, "predictions")

    def derive(self, statements: str) -> Predictions:
        """Computes quantities from the draws: any statements of the model language.

        >>> import svmp
        >>> m = svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 0.01) }", {"y": [1.0, 2.0, 3.0]})
        >>> fit = m.fit(progressbar=False)
        >>> made = fit.derive("e <- exp(mu); large <- step(mu - 2)")
        >>> bool((made["e"] > 0).all()), list(made)
        (True, ['e', 'large'])
        """
        if not isinstance(statements, str):
            raise TypeError(f"derive: expected statements of the model language, not {type(statements).__name__}")
        return self._predict("derive", None, Reading(statements=statements), None, {}, "posterior")

    @cached_property
    def _replicated(self) -> dict[str, Array]:
        if self._replicates or self.model is None:
            return {name: place.take(self.values) for name, place in self._replicates.items()}
        if self.model.text is None or not self.observed:
            return {}
        groups = dict.fromkeys(self.observed, "posterior_predictive")
        made = self._predict("posterior_predictive", None, Reading("posterior_predictive"), None, groups, "posterior_predictive")
        return {name: place.take(made.values) for name, place in made.replicates.items()}

    def posterior_predictive(self) -> dict[str, Array]:
        """Data drawn for each particle, (particles, *shape), by the names of the observed arrays.

        >>> import svmp
        >>> fit = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]}).fit(progressbar=False)
        >>> fit.posterior_predictive()["y"].shape == (len(fit), 3)
        True
        """
        return dict(self._replicated)

    def _wants(self, group: str) -> bool:
        requested = self._requested.get(group)
        if requested is not None:
            return requested
        if self._pointwise is not None if group == "log_likelihood" else self._replicates:
            return True
        numbers = len(self) * sum(values.size for values in self.observed.values())
        if numbers > _LARGE_GROUP:
            logger.info("idata is without %s, %d numbers; fit.%s computes it", group, numbers, group)
        return numbers <= _LARGE_GROUP

    def extra_groups(self) -> dict[str, dict[str, Array]]:
        """Further groups for ArviZ, (particles, *shape): the log likelihood, in the shape of the data if they are one array, and
        the posterior predictive."""
        made: dict[str, dict[str, Array]] = {}
        for group, compute in (("log_likelihood", self._likelihood_group), ("posterior_predictive", self.posterior_predictive)):
            try:
                arrays = compute() if self._wants(group) else {}
            except Error as error:
                if self._requested.get(group):
                    raise
                logger.info("idata is without %s: %s", group, error)
                continue
            if arrays:
                made[group] = arrays
        return made

    def _likelihood_group(self) -> dict[str, Array]:
        values = self.log_likelihood
        if values is None:
            return {}
        observed = [(name, array) for name, array in self.observed.items() if not np.isnan(array).all()]
        if len(observed) == 1 and observed[0][1].shape == values[0].shape and not np.isnan(observed[0][1]).any():
            return {observed[0][0]: values}  # of other arrays, the text has its own order
        return {"log_lik": values}

    @cached_property
    def idata(self) -> Any:
        """For ArviZ: the groups posterior, sample_stats, observed_data, log_likelihood and posterior_predictive.

        A DataTree with ArviZ 1, InferenceData before it. The last two are computed when ``idata`` is first used, unless they
        would have more than 20 million numbers or an argument of :meth:`Model.fit` says otherwise.
        """
        return to_idata(self)

    @property
    def record(self) -> dict[str, str]:
        """The settings and the outcome of the run, as lines of a file."""
        made = {name: value for name, value in self.settings.items()}
        made.update({"outcome": self.outcome, "iterations done": str(self.iterations), "seconds": f"{self.seconds:.3f}"})
        if self.measured is not None:
            total = self.measured.total
            made.update({f"ksd_{name}": repr(total[name]) for name in ("u", "v", "ratio")})
            made["ksd_beyond"] = f"{len(self.measured.beyond)} of {len(self.measured.nodes)}"
        made.update(self.verdict.record)
        return made

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Writes the particles to ``.csv`` (in the format of Stan) or ``.nc`` (NetCDF); :func:`svmp.load` reads them.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> fit = m.fit(progressbar=False)
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fit.save(os.path.join(folder, "fit.csv"))
        ...     again = svmp.load(os.path.join(folder, "fit.csv"), m)
        >>> bool((again["mu"] == fit["mu"]).all())
        True
        """
        lines = [f"svmp {version}", *(f"{name} = {value}" for name, value in self.record.items())]
        comments = "\n".join(lines) + "\n"
        if self.model is None:
            write_sample(self.sample_data, path, comments, overwrite)
        else:
            with self.model._borrow() as compiled:
                write_sample(self.sample_data, path, comments, overwrite, compiled.handle)

    @classmethod
    def load(cls, path: Any, model: Optional["Model"] = None) -> "Fit":
        """Reads a file written by :meth:`save` or the command; with the model, arrays get their shapes."""
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no particle file '{path}'")
        sample = read_sample(path)
        record = dict(line.split(" = ", 1) for line in sample.comments.splitlines() if " = " in line)
        if model is None:
            return cls(sample, find_arrays(sample.names), record=record)
        with model._borrow() as compiled:
            missing = [name for name in compiled.unknown_names if name not in set(sample.names)]
            if missing:
                raise ValueError(f"load: the file '{path}' has no '{missing[0]}', which the model has")
            arrays = compiled.find_arrays(sample.names)
            ours = {*compiled.known_names, *compiled.unknown_arrays, "log_lik", "deviance"}
            others = [name for name in arrays if name not in ours and not is_replicate(name)]
            if others:
                raise ValueError(f"load: the file '{path}' has '{others[0]}', which the model does not have")
            return cls(sample, arrays, observed=model.observed, model=model, record=record)

    def report(self, path: Any = None) -> "Report":
        """A page of HTML with the graph, densities, convergence curves and the table; written to ``path`` if it is given.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> fit = m.fit(progressbar=False)
        >>> page = fit.report()          # doctest: +SKIP
        >>> page.save("page.html")       # doctest: +SKIP
        """
        from .report import make_report

        return make_report(self, path)

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name}{list(place.shape) if place.shape else ''}" for name, place in list(self.arrays.items())[:6])
        more = ", ..." if len(self.arrays) > 6 else ""
        return f"<svmp.Fit: {self.method}, {self._count} of {arrays}{more}; {self.outcome}. {self.verdict.sentence}>"

    def _repr_html_(self) -> str:
        return _html.fit(self)


def load(path: Any, model: Optional["Model"] = None) -> Fit:
    """Reads particles written by :meth:`Fit.save` or ``svmp run -o``.

    >>> import svmp
    >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
    >>> fit = m.fit(progressbar=False)
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(os.path.join(folder, "fit.csv"))
    ...     again = svmp.load(os.path.join(folder, "fit.csv"))
    >>> list(again)
    ['mu']
    """
    return Fit.load(path, model)
