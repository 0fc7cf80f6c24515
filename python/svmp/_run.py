"""Runs inference: options, start, the loop with its callbacks, and what is measured at the end."""

from __future__ import annotations

import ctypes
import difflib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from ._compiled import Compiled
from ._context import Context, logger
from ._library import callbacks, constants, interface, lib, structs
from ._sample import Array, Particles, Sample, sample_from
from .errors import InputError, NotFiniteError

_OUTCOMES = {number: name[len("SVMP_") :].lower() for name, number in interface.enums["svmp_outcome"].items()}
_YIELDS = {number: name[len("SVMP_") :].lower() for name, number in interface.enums["svmp_yield"].items()}


# Functions that are used if the library has them: coordinates, and its own verdict on particles.
OPTIONAL = {
    "svmp_model_read_text_as",
    "svmp_run_examine",
    "svmp_run_verdict",
    "svmp_verdict_is_clear",
    "svmp_verdict_sentence",
    "svmp_verdict_advice",
    "svmp_finding_text",
}
has_coordinates = "svmp_model_read_text_as" in interface.functions
has_verdicts = "svmp_run_verdict" in interface.functions


@dataclass(frozen=True)
class Progress:
    """The state of a run after an iteration, as a callback gets it."""

    iteration: int
    iterations: int
    largest: float
    rate: float
    divergences: int


@dataclass
class Measured:
    """The kernelised Stein discrepancy, in total and of each node (docs/diagnostics.md)."""

    total: dict[str, float]
    nodes: dict[str, dict[str, float]]

    @property
    def beyond(self) -> list[str]:
        """Nodes that are farther from the posterior than exact draws would be, the worst first."""
        far = [name for name, node in self.nodes.items() if node["excess"] > 1]
        return sorted(far, key=lambda name: -self.nodes[name]["excess"])


@dataclass
class Judged:
    """The library's verdict on the particles of a run (svmp_run_verdict)."""

    clear: bool
    finding: str
    sentence: str
    advice: str
    evidence: dict[str, Any]


@dataclass
class RunResult:
    sample: Sample
    outcome: str
    method: str
    kind: str  # "particles", "chains", "draws" or "modes"
    iterations: int
    requested: int
    seconds: float
    settings: dict[str, str]
    measured: Optional[Measured] = None
    interrupted: bool = False
    judged: Optional[Judged] = None


# ---- options ------------------------------------------------------------------------------------


def option_names() -> list[str]:
    """The options of a run, as the library lists them."""
    option, names, which = structs["svmp_option"](), [], 0
    while lib.svmp_option_at(which, ctypes.byref(option)):
        names.append(option.name.decode())
        which += 1
    return names


def _text(name: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"option '{name}': expected a number or a text, not {value!r}")
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, str):
        return value
    raise TypeError(f"option '{name}': expected a number or a text, not {type(value).__name__}")


def make_options(context: Context, given: Mapping[str, Any]) -> ctypes.c_void_p:
    known = option_names()
    handle = context.create(lib.svmp_options_create, context.handle)
    try:
        for key, value in given.items():
            name = key.replace("_", "-")
            if name not in known:
                close = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean '{close[0]}'?" if close else ""
                raise TypeError(f"there is no option '{key}'{hint} The options are {', '.join(known)}.")
            if value is not None:
                context.check(lib.svmp_options_set(handle, name.encode(), _text(key, value).encode()))
    except BaseException:
        lib.svmp_options_free(handle)
        raise
    return handle


# ---- the start ----------------------------------------------------------------------------------


def is_start_text(text: str) -> bool:
    """Whether a text is one of the starts of the library, and not a file."""
    which = 0
    while True:
        choice = lib.svmp_option_choice(b"init", which)
        if choice is None:
            return False
        word, colon, _ = choice.decode().partition(":")
        if text == word or (colon and text.startswith(word + ":")):
            return True
        which += 1


def _current(run: ctypes.c_void_p, context: Context) -> Sample:
    handle = context.create(lib.svmp_run_particles, run)
    try:
        return sample_from(handle)
    finally:
        lib.svmp_particles_free(handle)


def _drawn_start(compiled: Compiled, run: ctypes.c_void_p) -> Sample:
    """The unknowns as the run would start."""
    sample = _current(run, compiled.context)
    places = {name: row for row, name in enumerate(sample.names)}
    return Sample(list(compiled.unknown_names), sample.values[[places[name] for name in compiled.unknown_names]])


def _start_from(compiled: Compiled, run: ctypes.c_void_p, sample: Sample) -> None:
    particles = Particles(compiled.context, sample)
    compiled.check(lib.svmp_run_start_from(run, particles.handle))


def _scatter(compiled: Compiled, point: Array, around: Sample) -> Array:
    """Particles around one point: the differences of the drawn start, on the unconstrained scale, centred at the point."""
    drawn = compiled.unconstrain(around.values)
    centre = compiled.unconstrain(point.reshape(-1, 1))
    return compiled.constrain(drawn - drawn.mean(axis=1, keepdims=True) + centre)


def start_dict(compiled: Compiled, run: ctypes.c_void_p, init: Mapping[str, Any], chains: bool) -> None:
    """Starts from arrays by name: one value for all particles, (*shape), or one for each, (count, *shape)."""
    drawn = _drawn_start(compiled, run)
    sample = Sample(drawn.names, drawn.values.copy())
    count, point_given = sample.count, False
    arrays = compiled.unknown_arrays
    for name, value in init.items():
        if name not in arrays:
            raise ValueError(f"init '{name}': the model has no unknown of that name; it has {', '.join(arrays)}")
        place = arrays[name]
        try:
            given = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"init '{name}': not an array of numbers") from None
        if given.shape == place.shape:
            point_given = True
            sample.values[place.rows] = given.ravel()[place.flat][:, None]
        elif given.shape == (count, *place.shape):
            sample.values[place.rows] = given.reshape(count, -1)[:, place.flat].T
        else:
            raise ValueError(
                f"init '{name}': expected shape {place.shape} or {(count, *place.shape)} (one for each particle), not {given.shape}"
            )
        if not np.isfinite(sample.values[place.rows]).all():
            raise ValueError(f"init '{name}': a value is not finite")
    if point_given and not chains and count > 1:  # identical particles would stay identical
        same = (sample.values == sample.values[:, :1]).all(axis=1)
        point = np.where(same, sample.values[:, 0], sample.values.mean(axis=1))
        scattered = _scatter(compiled, point, drawn)
        sample.values[same] = scattered[same]
    _start_from(compiled, run, sample)


def start_array(compiled: Compiled, run: ctypes.c_void_p, init: Array, chains: bool) -> None:
    names = compiled.unknown_names
    drawn = _drawn_start(compiled, run)
    if init.ndim == 1 and init.shape[0] == len(names):
        values = np.repeat(init[:, None], drawn.count, axis=1)
        if not chains and drawn.count > 1:
            values = _scatter(compiled, init, drawn)
    elif init.ndim == 2 and init.shape[1] == len(names):
        values = np.ascontiguousarray(init.T)
    else:
        raise ValueError(f"init: expected shape (particles, {len(names)}) or ({len(names)},), not {init.shape}")
    _start_from(compiled, run, Sample(list(names), values))


def _start(compiled: Compiled, run: ctypes.c_void_p, init: Any, chains: bool) -> None:
    if isinstance(init, Mapping):
        start_dict(compiled, run, init, chains)
    elif isinstance(init, Sample):
        _start_from(compiled, run, init)
    elif isinstance(init, (str, os.PathLike)):
        path = os.fspath(init)
        if not os.path.exists(path):
            raise InputError(f"init '{path}': neither a start nor a file")
        compiled.check(lib.svmp_run_start_from_file(run, os.fsencode(path)))
    else:
        try:
            values = np.asarray(init, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"init: expected a text, a dictionary, an array or a fit, not {type(init).__name__}") from None
        start_array(compiled, run, values, chains)


# ---- the loop -----------------------------------------------------------------------------------


class _Bar:
    """A line on the standard error that is drawn again at most ten times a second."""

    def __init__(self, method: str, wanted: bool) -> None:
        self.method, self.started, self.drawn = method, time.monotonic(), 0.0
        self.shown = bool(wanted) and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self.width = 0

    def due(self) -> bool:
        return self.shown and time.monotonic() - self.drawn >= 0.1

    def draw(self, iteration: int, iterations: int) -> None:
        self.drawn = time.monotonic()
        share = iteration / iterations if iterations else 1.0
        filled = int(30 * share)
        seconds = self.drawn - self.started
        text = f"\r{self.method} [{'#' * filled}{' ' * (30 - filled)}] {iteration}/{iterations}, {seconds:.1f} s"
        sys.stderr.write(text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def close(self) -> None:
        if self.shown and self.width:
            sys.stderr.write("\n")
            sys.stderr.flush()


class _Interrupts:
    """Ctrl-C sets a flag while a run is in C, where an exception could not pass."""

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None

    def _handle(self, *_: Any) -> None:
        self.seen = True

    def __enter__(self) -> "_Interrupts":
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None:
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


@dataclass
class Loop:
    """What happens between iterations."""

    callback: Optional[Callable[[Progress], Any]] = None
    progressbar: bool = True
    checkpoint: Optional[str] = None
    checkpoint_every: float = 60.0
    resume: Optional[str] = None
    exception: Optional[BaseException] = field(default=None, init=False)
    _saved: float = field(default=0.0, init=False)

    def go(self, compiled: Compiled, run: ctypes.c_void_p, method: str) -> tuple[int, int, bool]:
        """Iterates to the end: status, outcome, and whether Ctrl-C stopped it."""
        bar, progress_type = _Bar(method, self.progressbar), structs["svmp_progress"]
        self._saved = time.monotonic()
        with _Interrupts() as interrupts:

            def monitor(address: int, _: Any) -> int:
                if interrupts.seen:
                    return 1
                try:
                    if bar.due():
                        state = progress_type.from_address(address)
                        bar.draw(state.iteration, state.iterations)
                    if self.checkpoint and time.monotonic() - self._saved >= self.checkpoint_every:
                        compiled.check(lib.svmp_run_save(run, os.fsencode(self.checkpoint)))
                        self._saved = time.monotonic()
                    if self.callback is not None:
                        state = progress_type.from_address(address)
                        seen = Progress(state.iteration, state.iterations, state.largest, state.rate, state.divergences)
                        return 1 if self.callback(seen) else 0
                except BaseException as error:  # it must not pass through C; it is raised again after the run
                    self.exception = error
                    return 1
                return 0

            function = callbacks["svmp_monitor"](monitor)
            outcome = ctypes.c_int(constants["SVMP_UNFINISHED"])
            compiled.check(lib.svmp_run_set_monitor(run, function, None))
            status = lib.svmp_run_go(run, ctypes.byref(outcome))
            lib.svmp_run_set_monitor(run, callbacks["svmp_monitor"](0), None)
            if bar.shown:
                bar.draw(lib.svmp_run_iteration(run), lib.svmp_run_iterations(run))
            bar.close()
            return status, outcome.value, interrupts.seen


# ---- afterwards ---------------------------------------------------------------------------------


def _settings(run: ctypes.c_void_p) -> dict[str, str]:
    buffer, made = ctypes.create_string_buffer(4096), {}
    for name in [*option_names(), "threads"]:
        value = lib.svmp_run_setting(run, name.encode(), buffer, len(buffer))
        if value is not None:
            made[name] = value.decode()
    return made


def _numbers(discrepancy: Any) -> dict[str, float]:
    made = {name: float(getattr(discrepancy, name)) for name, *_ in discrepancy._fields_}
    made["excess"] = float(lib.svmp_discrepancy_excess(ctypes.byref(discrepancy)))
    return made


def _measure(compiled: Compiled, run: ctypes.c_void_p) -> Optional[Measured]:
    total, nodes = structs["svmp_discrepancy"](), (structs["svmp_discrepancy"] * max(compiled.nodes, 1))()
    status = lib.svmp_run_measure(run, ctypes.byref(total), nodes)
    if status == constants["SVMP_UNSUPPORTED"]:
        compiled.forget()
        return None
    compiled.check(status)
    return Measured(_numbers(total), {compiled.node_name(v): _numbers(nodes[v]) for v in range(compiled.nodes)})


def describe_method(context: Context, name: str) -> tuple[str, bool]:
    """What a method's particles mean, and whether each particle is a chain."""
    method = structs["svmp_method"]()
    context.check(lib.svmp_method_describe(context.handle, name.encode(), ctypes.byref(method)))
    return _YIELDS.get(getattr(method, "yield"), "unknown"), bool(method.sweeps)


def method_coordinates(method: Optional[str]) -> str:
    """The coordinates that suit a method, or the default one; "" if it does not matter."""
    context = Context()
    options = make_options(context, {"method": method})
    try:
        name = lib.svmp_options_get(options, b"method")
    finally:
        lib.svmp_options_free(options)
    described = structs["svmp_method"]()
    if lib.svmp_method_describe(context.handle, name, ctypes.byref(described)):
        return ""  # the run will say that there is no such method
    text: Optional[bytes] = described.coordinates
    return "" if text is None else text.decode()


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _judge(compiled: Compiled, run: ctypes.c_void_p, finished: bool, seconds: float) -> Optional[Judged]:
    """Asks the library for its verdict, which may take a third of the time of the run or five seconds, as in the command."""
    nodes = (structs["svmp_discrepancy"] * max(compiled.nodes, 1))()
    known = lib.svmp_run_discrepancy(run, ctypes.byref(structs["svmp_discrepancy"]()), nodes) == 0
    found = structs["svmp_verdict"]()
    with _Interrupts() as interrupts:
        watch = callbacks["svmp_monitor"](lambda *_: int(interrupts.seen))
        lib.svmp_run_set_monitor(run, watch, None)
        status = lib.svmp_run_verdict(run, nodes if known else None, max(5.0, seconds / 3) if finished else 0.0, ctypes.byref(found))
        lib.svmp_run_set_monitor(run, callbacks["svmp_monitor"](0), None)
    if status:
        compiled.forget()
        return None
    return _judged(found)


def _judged(found: Any) -> Judged:
    buffer = ctypes.create_string_buffer(4096)
    evidence = {name: _plain(getattr(found, name)) for name, *_ in found._fields_ if name != "drift"}
    evidence["drifts"] = [{name: _plain(getattr(d, name)) for name, *_ in d._fields_} for d in found.drift[: found.drifts]]
    return Judged(
        bool(lib.svmp_verdict_is_clear(ctypes.byref(found))),
        lib.svmp_finding_text(found.finding).decode(),
        lib.svmp_verdict_sentence(ctypes.byref(found), buffer, len(buffer)).decode(),
        lib.svmp_verdict_advice(ctypes.byref(found), buffer, len(buffer)).decode(),
        evidence,
    )


def examine(compiled: Compiled, sample: Sample, seconds: float, moves: int) -> Judged:
    """Puts particles from anywhere before the library's examination, as ``svmp verify`` does."""
    most = 500  # of more, evenly spaced ones
    places = {name: row for row, name in enumerate(sample.names)}
    some = (np.arange(1, most + 1) * sample.count // most - 1) if sample.count > most else np.arange(sample.count)
    rows = [places[name] for name in compiled.unknown_names]
    start = Sample(list(compiled.unknown_names), np.ascontiguousarray(sample.values[rows][:, some]))
    options = make_options(compiled.context, {"method": "langevin", "init": "normal:0.001", "particles": start.count})
    run, found = ctypes.c_void_p(), structs["svmp_verdict"]()
    try:
        run = compiled.create(lib.svmp_run_create, compiled.handle, options)
        _start_from(compiled, run, start)
        compiled.check(lib.svmp_run_examine(run, seconds, moves, ctypes.byref(found)))
        return _judged(found)
    finally:
        lib.svmp_run_free(run)
        lib.svmp_options_free(options)


def run_model(compiled: Compiled, options: Mapping[str, Any], init: Any, loop: Loop, measure: bool = True) -> RunResult:
    """One run, from the options to the result. Raises what a callback raised."""
    context = compiled.context
    given = dict(options)
    if isinstance(init, str) and is_start_text(init):
        given["init"], init = init, None
    handle = make_options(context, given)
    run = ctypes.c_void_p()
    try:
        run = compiled.create(lib.svmp_run_create, compiled.handle, handle)
        settings = _settings(run)
        method = settings["method"]
        kind, _ = describe_method(context, method)
        if init is not None:
            _start(compiled, run, init, kind == "chains")
            settings["init"] = "given"
        if loop.resume:
            compiled.check(lib.svmp_run_load(run, os.fsencode(loop.resume)))
        before = time.monotonic()
        status, outcome, interrupted = loop.go(compiled, run, method)
        seconds = time.monotonic() - before
        if loop.exception is not None:
            compiled.forget()
            raise loop.exception
        diverged = status == constants["SVMP_NOT_FINITE"] and outcome == constants["SVMP_DIVERGED"]
        failure: Optional[Exception] = None
        try:
            compiled.check(status)
        except NotFiniteError as error:
            if not diverged:
                raise
            failure = error
        if loop.checkpoint and not diverged:
            compiled.check(lib.svmp_run_save(run, os.fsencode(loop.checkpoint)))
        measured = _measure(compiled, run) if measure and kind == "particles" and not diverged else None
        judged = None
        if has_verdicts and measured is not None:
            done = _OUTCOMES.get(outcome) in ("completed", "converged") and lib.svmp_run_iteration(run) > 0
            judged = _judge(compiled, run, done, seconds)
        result = RunResult(
            _current(run, context),
            _OUTCOMES.get(outcome, "unknown"),
            method,
            kind,
            lib.svmp_run_iteration(run),
            lib.svmp_run_iterations(run),
            seconds,
            settings,
            measured,
            interrupted,
            judged,
        )
        if interrupted:
            logger.warning("interrupted after iteration %d of %d", result.iterations, result.requested)
        if failure is not None:
            failure.result = result  # type: ignore[attr-defined]
            raise failure
        return result
    finally:
        lib.svmp_run_free(run)
        lib.svmp_options_free(handle)
