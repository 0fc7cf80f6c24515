"""Models: a text in the model language with its data, files, or a graph built in Python."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, Optional, Union

import numpy as np

from . import _html
from ._axes import Coords, Dims, make_axes
from ._arguments import arguments_of, check_names, names_of
from ._compiled import Compiled
from ._context import logger
from ._draws import VarNames
from ._library import callbacks, constants, lib, structs
from ._options import method_coordinates
from ._recipe import Reading, Recipe, TextRecipe, read_source
from ._run import Loop, Progress, run_model
from ._sample import Array
from .errors import NotFiniteError
from .fit import Extension, Fit
from .predictions import Predictions, simulate

_POINTWISE = ("log_lik", "deviance", "posterior_predictive")  # monitors that no model text defines


def _path(name: str, given: Any) -> Optional[str]:
    if given is None or isinstance(given, (str, os.PathLike)):
        return None if given is None else os.fspath(given)
    raise TypeError(f"{name}: expected a path, not {type(given).__name__}")


class Model:
    """A model, compiled with its data.

    Args:
        source: a text in the model language (BUGS, in the dialect of JAGS; docs/language.md), the path of one (``.bug``, ``.jags``,
            ``.txt``), or the path of a precision matrix (``.mtx``).
        data: a dictionary of numbers and arrays, a DataFrame of pandas or polars whose columns are arrays, paths of files
            (``.json``, ``.csv``, ``.R``), or a list of these. ``[table, {"X": ["age", "dose"]}]`` makes a matrix of columns. NaN, None, ``pandas.NA`` and masked elements are missing values.
        dims: names of the dimensions of arrays, ``{"u": ["hospital"]}``, for summaries and ArviZ.
        coords: labels along them, ``{"hospital": ["York", "Hull"]}``. Text in the data needs neither: it labels what it subscripts.
        threads: the number of threads; 0: OMP_NUM_THREADS, or all processors. The results do not depend on it.

    Attributes:
        unknown: unknown arrays and their shapes; () is a single number.
        observed: observed arrays; NaN where an element is unknown.
        computed: names of deterministic nodes, which :meth:`fit` can monitor.
        names: the unknown values one by one, "theta.3.1", in the order of arrays for ``init``.
        variable_names: the unconstrained variables.
        nodes, factors: how many the graph has.
        is_gaussian: whether the model is jointly Gaussian.

    A model is safe to use from several threads, and can be pickled.

    >>> import svmp
    >>> m = svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 0.01) }", {"y": [1.0, 2.0, 3.0]})
    >>> m.unknown
    {'mu': ()}
    >>> fit = m.exact(1000)
    >>> bool(abs(fit["mu"].mean() - 2.0) < 0.1)
    True
    """

    def __init__(self, source: Any, data: Any = None, *, threads: int = 0, dims: Optional[Dims] = None, coords: Optional[Coords] = None) -> None:
        self._init(source if isinstance(source, Recipe) else read_source(source, data), threads)
        if dims is not None or coords is not None:
            with self._borrow() as compiled:
                shapes = {array.name: array.shape for array in compiled.text_arrays}
                self._recipe.axes = compiled.axes = make_axes(dims, coords, {**shapes, **self.unknown})

    def _init(self, recipe: Recipe, threads: int) -> None:
        if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 0:
            raise ValueError(f"threads: expected a number of at least 0, not {threads!r}")
        self._recipe = recipe
        self._threads = int(threads) or recipe.threads
        self._idle: list[tuple[Reading, Compiled]] = []
        self._lock = threading.Lock()
        with self._borrow() as compiled:  # errors in the text show here
            self._describe(compiled)

    def __getstate__(self) -> dict[str, Any]:
        return {"recipe": self._recipe, "threads": self._threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._init(state["recipe"], state["threads"])

    @contextmanager
    def _borrow(self, reading: Reading = Reading()) -> Iterator[Compiled]:
        """Lends a compiled model that no other thread uses; it is kept for the next caller."""
        compiled: Optional[Compiled] = None
        with self._lock:
            for k, (kept, candidate) in enumerate(self._idle):
                if kept == reading:
                    compiled = candidate
                    del self._idle[k]
                    break
        if compiled is None:
            compiled = Compiled(lambda context, failures: self._recipe.build(context, failures, reading), self._threads, self._recipe.axes)
        try:
            yield compiled
        finally:
            compiled.forget()
            with self._lock:
                self._idle = [*self._idle[-1:], (reading, compiled)]

    # ---- description ----------------------------------------------------------------------------

    def _describe(self, compiled: Compiled) -> None:
        arrays = compiled.text_arrays
        self._arrays = compiled.unknown_arrays
        if arrays:
            self.unknown: dict[str, tuple[int, ...]] = {a.name: a.shape for a in arrays if a.unknown_count}
            self.observed: dict[str, Array] = {a.name: a.values for a in arrays if a.values is not None}
            self.computed: list[str] = [a.name for a in arrays if a.computed]
        else:
            self.unknown = {name: place.shape for name, place in self._arrays.items()}
            self.observed, self.computed = {}, []
        self.names: list[str] = list(compiled.unknown_names)
        self.variable_names: list[str] = list(compiled.variable_names)
        self.nodes: int = compiled.nodes
        self.factors: int = compiled.factors
        self.is_gaussian: bool = bool(lib.svmp_model_is_gaussian(compiled.handle))
        self._described = [(a.unknown, a.observed, a.computed) for a in arrays]

    @property
    def dimension(self) -> int:
        """The number of unconstrained variables."""
        return len(self.variable_names)

    @property
    def text(self) -> Optional[str]:
        """The model text; None if the model has none."""
        return self._recipe.text if isinstance(self._recipe, TextRecipe) else None

    def with_data(self, data: Any) -> Model:
        """The same model text with other data.

        >>> import svmp
        >>> m = svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 0.01) }", {"y": [1.0, 2.0, 3.0]})
        >>> m.with_data({"y": [4.0, 5.0]}).observed["y"].tolist()
        [4.0, 5.0]
        """
        return Model(self._recipe_with(data), threads=self._threads)

    def _recipe_with(self, data: Any, missing: Iterable[str] = ()) -> Recipe:
        if not isinstance(self._recipe, TextRecipe):
            raise TypeError("only models of a text have data that can be replaced")
        return self._recipe.with_data(data, missing)

    def prior_predictive(self, draws: int = 1000, *, monitor: VarNames = None, seed: int = 1) -> Predictions:
        """Draws unknowns and data from the priors: what the model says before anything is observed.

        Args:
            draws: how many independent draws.
            monitor: deterministic nodes of the text that are also computed.
            seed: the random seed.

        >>> import svmp
        >>> m = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]})
        >>> m.prior_predictive(200)["y"].shape
        (200, 3)
        """
        reading = Reading(self._monitors(names_of("monitor", monitor)))
        made, compiled = simulate(self._recipe, self._threads, draws, reading, seed)
        return Predictions(made, compiled.find_arrays(made.names), dict.fromkeys(self.observed, "prior_predictive"), "prior")

    def __repr__(self) -> str:
        unknown = ", ".join(f"{name}{list(shape) if shape else ''}" for name, shape in list(self.unknown.items())[:6])
        more = ", ..." if len(self.unknown) > 6 else ""
        observed = f"; observed: {', '.join(self.observed)}" if self.observed else ""
        return f"<svmp.Model: {self.nodes} nodes, {self.factors} factors; unknown: {unknown}{more}{observed}>"

    def _repr_html_(self) -> str:
        return _html.model(self)

    def graph(self, format: str = "networkx") -> Any:
        """The factor graph: a ``networkx.Graph``, or a text in Graphviz's language (``"dot"``) or as JSON (``"json"``).

        Nodes of the networkx graph have the attribute ``kind``: ``"node"`` or ``"factor"``.

        >>> import svmp
        >>> m = svmp.Model("model { x ~ dnorm(0, 1)  y ~ dnorm(x, 1) }")
        >>> m.graph("dot").splitlines()[0]
        'graph model {'
        """
        if format not in ("networkx", "dot", "json"):
            raise ValueError(f"format: expected 'networkx', 'dot' or 'json', not {format!r}")
        which = constants["SVMP_GRAPH_DOT" if format == "dot" else "SVMP_GRAPH_JSON"]
        pieces: list[bytes] = []

        def keep(piece: bytes, _: Any) -> int:
            pieces.append(piece)
            return 0

        write = callbacks["svmp_text_function"](keep)
        with self._borrow() as compiled:
            compiled.check(lib.svmp_model_write_graph(compiled.handle, which, write, None))
        text = b"".join(pieces).decode()
        if format != "networkx":
            return text
        try:
            import networkx
        except ImportError:
            raise ImportError("graph() needs networkx (pip install networkx); graph('dot') does not") from None
        return _networkx(networkx, json.loads(text))

    # ---- density --------------------------------------------------------------------------------

    def _variables(self, x: Any) -> tuple[Array, tuple[int, ...]]:
        """x as (variables, n), and the shape before the last axis."""
        if isinstance(x, Mapping):
            x = self.unconstrain(x)
        try:
            array = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError("x: not an array of numbers") from None
        if array.ndim == 0 or array.shape[-1] != self.dimension or array.size == 0:
            raise ValueError(f"x: expected shape (..., {self.dimension}), not {array.shape}")
        return np.ascontiguousarray(array.reshape(-1, self.dimension).T), array.shape[:-1]

    def log_prob(self, x: Any) -> Any:
        """The log density, up to a constant, at unconstrained points of shape ``(..., dimension)`` or at a dictionary of values.

        The density is that of the unconstrained variables: it contains the Jacobian of the transforms.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> round(float(m.log_prob([0.5]) - m.log_prob([1.5])), 6)      # -(x - 0.5)^2 and a constant
        1.0
        """
        flat, shape = self._variables(x)
        with self._borrow() as compiled:
            value, _ = compiled.evaluate(flat, True, False)
        assert value is not None
        return value.reshape(shape)[()]

    def score(self, x: Any) -> Array:
        """The gradient of :meth:`log_prob`, of the shape of ``x``.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> m.score([[0.5], [1.5]]).round(6).ravel().tolist()
        [0.0, -2.0]
        """
        flat, shape = self._variables(x)
        with self._borrow() as compiled:
            _, gradient = compiled.evaluate(flat, False, True)
        assert gradient is not None
        return np.ascontiguousarray(gradient.T).reshape(*shape, self.dimension)

    def constrain(self, x: Any) -> dict[str, Array]:
        """Natural values, by name, of unconstrained points of shape ``(..., dimension)``: arrays of shape ``(..., *shape)``.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(0, tau)  tau ~ dgamma(2, 2) }", {"y": 1.0})
        >>> float(m.constrain([0.0])["tau"])
        1.0
        """
        flat, shape = self._variables(x)
        with self._borrow() as compiled:
            values = compiled.constrain(flat)
        return {name: place.take(values).reshape((*shape, *place.shape)) for name, place in self._arrays.items()}

    def unconstrain(self, values: Mapping[str, Any]) -> Array:
        """Unconstrained points, of shape ``(..., dimension)``, of natural values by name: the inverse of :meth:`constrain`.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(0, tau)  tau ~ dgamma(2, 2) }", {"y": 1.0})
        >>> m.unconstrain({"tau": [1.0, 1.0]}).tolist()
        [[0.0], [0.0]]
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"values: expected a dictionary of arrays, not {type(values).__name__}")
        for name in values:
            if name not in self._arrays:
                raise ValueError(f"'{name}': the model has no unknown of that name; it has {', '.join(self._arrays)}")
        front: Optional[tuple[int, ...]] = None
        rows = np.empty((len(self.names), 0))
        for name, place in self._arrays.items():
            if name not in values:
                raise ValueError(f"'{name}': no value was given")
            array = np.asarray(values[name], dtype=np.float64)
            rank = len(place.shape)
            if array.shape[array.ndim - rank :] != place.shape:
                raise ValueError(f"'{name}': expected shape (..., {', '.join(map(str, place.shape))}), not {array.shape}")
            shape = array.shape[: array.ndim - rank]
            if front is None:
                front = shape
                rows = np.empty((len(self.names), int(np.prod(shape, dtype=int))))
            elif shape != front:
                raise ValueError(f"'{name}': {shape} points, but the arrays before it have {front}")
            rows[place.rows] = array.reshape(rows.shape[1], -1)[:, place.flat].T
        with self._borrow() as compiled:
            compiled.check_values(rows)
            made = compiled.unconstrain(rows)
        return np.ascontiguousarray(made.T).reshape(*(front or ()), self.dimension)

    def check_gradient(self, x: Any = None, *, points: int = 3, seed: int = 1) -> dict[str, Any]:
        """Compares the gradients of all factors with finite differences; returns the worst one.

        Args:
            x: unconstrained points, ``(..., dimension)``; None: random ones.

        ``error`` is below 1e-6 for a correct gradient.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> m.check_gradient()["error"] < 1e-6
        True
        """
        if x is None:
            x = np.random.default_rng(seed).normal(size=(points, self.dimension))
        flat, _ = self._variables(x)
        worst = structs["svmp_gradient_check"]()
        with self._borrow() as compiled:
            compiled.check(lib.svmp_model_check_gradient(compiled.handle, flat.shape[1], flat.ctypes.data, ctypes.byref(worst)))
        checked = worst.factor != ctypes.c_size_t(-1).value
        return {
            "factor": worst.factor if checked else None,
            "variable": self.variable_names[worst.variable] if checked else None,
            "analytic": worst.analytic,
            "numeric": worst.numeric,
            "error": worst.error if checked else 0.0,
        }

    # ---- inference ------------------------------------------------------------------------------

    def _monitors(self, names: list[str]) -> str:
        for name in names:
            if name in _POINTWISE and self.text is not None:
                continue  # the library computes them, or reports that it cannot
            if name not in self.computed and name not in self.unknown:
                raise ValueError(
                    f"monitor '{name}': the model does not compute it; it computes {', '.join(self.computed) or 'nothing'}"
                )
        return ",".join(names)

    def _coordinates(self, method: Optional[str], given: Optional[str]) -> str:
        """The coordinates of a model text: the given ones, or those that suit the method."""
        if not isinstance(self._recipe, TextRecipe):
            return ""
        return str(given) if given is not None else method_coordinates(method)

    def fit(
        self,
        /,
        method: Optional[str] = None,
        particles: Optional[int] = None,
        *,
        init: Any = None,
        seed: int = 1,
        iterations: Optional[int] = None,
        monitor: VarNames = None,
        progressbar: bool = True,
        callback: Optional[Callable[[Progress], Any]] = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        resume: Any = None,
        backend: Optional[str] = None,
        measure: bool = True,
        log_likelihood: Optional[bool] = None,
        posterior_predictive: Optional[bool] = None,
        extendable: bool = False,
        kernel: Optional[str] = None,
        bandwidth: Union[None, str, float] = None,
        step: Optional[str] = None,
        tolerance: Optional[float] = None,
        chains: Optional[int] = None,
        warmup: Optional[int] = None,
        draws: Optional[int] = None,
        accept: Optional[float] = None,
        coordinates: Optional[str] = None,
        **unknown: NoReturn,
    ) -> Fit:
        """Runs inference. The same options give the same bits as the command ``svmp run``.

        Args:
            method: ``"transport"``, ``"graphical"``, ``"nuts"``, ...; None: the library's default.
            particles: the number of particles; None: the default, 100.
            init: ``"prior"``, ``"gaussian"``, ``"map"``, ``"normal:SD"``, ``"uniform:A,B"``; the path of a particle file; another
                fit; a dictionary of natural values by name, one for all particles, ``(*shape)``, or one for each,
                ``(particles, *shape)``; a list of dictionaries, one for each; or an array ``(particles, len(model.names))``. If all
                particles share one value, they start around it with the spread of the default start; chains start exactly there.
            seed: the random seed.
            monitor: deterministic nodes of the text that are also reported.
            progressbar: show progress, on a terminal or in a notebook.
            callback: called with a :class:`Progress` after each iteration; a true result stops the run. An exception ends the
                run and is raised again.
            checkpoint: path to which the state is saved every ``checkpoint_every`` seconds and at the end.
            resume: path of a checkpoint to continue from.
            backend: ``"cpu"``; ``"cuda"``, an NVIDIA GPU, or ``"cuda-f64"``, the same in double precision; ``"auto"``, a GPU where it
                pays and otherwise the CPU; ``"cpu-avx2"`` and the like, one instruction set; ``"ref"``, plain loops. None:
                ``"cpu"``, with the best instructions of this processor. ``fit.settings["backend"]`` is the one that ran.
            measure: measure the Stein discrepancy at the end, which the verdict needs.
            log_likelihood: whether ``fit.idata`` has the log likelihood of each observation, for ``az.loo``. True: it is computed
                with the run and saved with the fit; None: when ``idata`` is used, unless it is large.
            posterior_predictive: the same for replicated data of each particle, for ``az.plot_ppc_dist``.
            extendable: keep the state of the run with the fit, for :meth:`Fit.extend`.
            kernel, bandwidth, step, tolerance: of Stein's method, as in ``svmp run --help``.
            chains, warmup, draws, accept: of samplers; ``draws`` also of the default method, in all.
            coordinates: ``"auto"``, ``"centred"`` or ``"noncentred"``; None: what suits the method.

        Ctrl-C stops the run after the current iteration and returns the fit so far. Other Python threads continue during a run.

        Raises:
            NotFiniteError: the run diverged; the attribute ``fit`` of the exception has the last finite particles.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1)  e <- exp(mu) }", {"y": 1.0})
        >>> list(m.fit(seed=2, monitor="e", progressbar=False))
        ['mu', 'e']
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: {type(callback).__name__} cannot be called")
        check_names(unknown, arguments_of(Model.fit))
        given: dict[str, Any] = {"method": method, "particles": particles, "iterations": iterations, "seed": seed, "backend": backend}
        given.update(kernel=kernel, bandwidth=bandwidth, step=step, tolerance=tolerance)
        given.update(chains=chains, warmup=warmup, draws=draws, accept=accept)
        loop = Loop(
            callback,
            progressbar,
            _path("checkpoint", checkpoint),
            float(checkpoint_every),
            _path("resume", resume),
            extendable,
        )
        start = init.sample_data if isinstance(init, Fit) else init
        monitored = names_of("monitor", monitor)
        if log_likelihood and "log_lik" not in monitored:
            monitored.append("log_lik")
        if posterior_predictive and "posterior_predictive" not in monitored:
            monitored.append("posterior_predictive")
        requested = {"log_likelihood": log_likelihood, "posterior_predictive": posterior_predictive}
        reading = Reading(self._monitors(monitored), self._coordinates(method, coordinates))
        with self._borrow(reading) as compiled:
            try:
                result = run_model(compiled, given, start, loop, measure)
            except NotFiniteError as error:
                if hasattr(error, "result"):
                    error.fit = Fit._of_run(error.result, compiled, self, requested)
                raise
            fit = Fit._of_run(result, compiled, self, requested)
        if result.state is not None:
            monitors = [name for name in monitored if name not in _POINTWISE]
            fit._extension = Extension(result.state, {**given, "coordinates": reading.coordinates or None, **requested}, monitors)
        if fit.verdict.word in ("failed", "not converged", "undecided"):
            logger.warning("%s", fit.verdict.sentence)
        return fit

    def sample(
        self,
        /,
        draws: Optional[int] = None,
        tune: Optional[int] = None,
        chains: Optional[int] = None,
        target_accept: Optional[float] = None,
        *,
        init: Any = None,
        seed: int = 1,
        monitor: VarNames = None,
        progressbar: bool = True,
        callback: Optional[Callable[[Progress], Any]] = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        resume: Any = None,
        backend: Optional[str] = None,
        measure: bool = True,
        log_likelihood: Optional[bool] = None,
        posterior_predictive: Optional[bool] = None,
        extendable: bool = False,
        coordinates: Optional[str] = None,
        **unknown: NoReturn,
    ) -> Fit:
        """Samples with NUTS; the other arguments are those of :meth:`fit`.

        Args:
            draws: draws kept per chain; None: the default, 1,000.
            tune: warm-up iterations of each chain, which are discarded; None: the default, 1,000.
            chains: the number of chains; None: the default, 4.
            target_accept: the target acceptance rate of the step size adaptation; None: the default, 0.8.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> fit = m.sample(draws=200, tune=200, chains=2, progressbar=False)
        >>> fit.chains, fit.draws
        (2, 200)
        """
        check_names(unknown, arguments_of(Model.sample))
        return self.fit(
            "nuts",
            init=init,
            seed=seed,
            monitor=monitor,
            progressbar=progressbar,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            backend=backend,
            measure=measure,
            log_likelihood=log_likelihood,
            posterior_predictive=posterior_predictive,
            extendable=extendable,
            chains=chains,
            warmup=tune,
            draws=draws,
            accept=target_accept,
            coordinates=coordinates,
        )

    def exact(self, draws: Optional[int] = None, *, seed: int = 1, monitor: VarNames = None, progressbar: bool = True) -> Fit:
        """Independent draws from a Gaussian model, by sparse Cholesky factorisation.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> m.exact(500)["mu"].shape
        (500,)
        """
        return self.fit("exact", draws, seed=seed, monitor=monitor, progressbar=progressbar)

    def exact_moments(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Means and marginal variances of a Gaussian model, by name.

        >>> import svmp
        >>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
        >>> mean, variance = m.exact_moments()
        >>> round(float(mean["mu"]), 6), round(float(variance["mu"]), 6)
        (0.5, 0.5)
        """
        mean, variance = np.empty((self.dimension, 1)), np.empty((self.dimension, 1))
        with self._borrow() as compiled:
            compiled.check(lib.svmp_model_exact_moments(compiled.handle, mean.ctypes.data, variance.ctypes.data))
        arrays = self._arrays.items()
        return {name: a.take(mean)[0] for name, a in arrays}, {name: a.take(variance)[0] for name, a in arrays}


def _networkx(networkx: Any, described: dict[str, Any]) -> Any:
    made = networkx.Graph()
    names = [node["name"] for node in described["nodes"]]
    for node in described["nodes"]:
        made.add_node(node["name"], kind="node", **{key: value for key, value in node.items() if key != "name"})
    for k, factor in enumerate(described["factors"]):
        members: Sequence[int] = factor["nodes"] if isinstance(factor, dict) else factor
        made.add_node(f"factor {k}", kind="factor")
        for node in members:
            made.add_edge(f"factor {k}", names[node] if isinstance(node, int) else node)
    return made
