"""Runs inference: options, start, the loop with its callbacks, and the final measurements."""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from ._arguments import check_sizes
from ._bar import Bar
from ._compiled import Compiled
from ._context import logger
from ._judge import Interrupts, Judged, judge_run
from ._library import callbacks, constants, interface, lib, structs
from ._options import describe_method, make_options, option_names
from ._sample import Sample
from ._start import current, is_start_text, start_run
from .errors import NotFiniteError

_OUTCOMES = {number: name[len("SVMP_") :].lower() for name, number in interface.enums["svmp_outcome"].items()}


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
        """Nodes that are farther from the posterior than exact draws, worst first."""
        far = [name for name, node in self.nodes.items() if node["excess"] > 1]
        return sorted(far, key=lambda name: -self.nodes[name]["excess"])


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
    state: Optional[bytes] = None  # from which the run can be continued


# ---- the loop -----------------------------------------------------------------------------------


@dataclass
class Loop:
    """The work between iterations."""

    callback: Optional[Callable[[Progress], Any]] = None
    progressbar: bool = True
    checkpoint: Optional[str] = None
    checkpoint_every: float = 60.0
    resume: Optional[str] = None
    keep: bool = False  # the state of the run
    exception: Optional[BaseException] = field(default=None, init=False)
    _saved: float = field(default=0.0, init=False)

    def go(self, compiled: Compiled, run: ctypes.c_void_p, method: str) -> tuple[int, int, bool]:
        """Iterates to the end; returns status, outcome, and whether Ctrl-C stopped it."""
        bar, progress_type = Bar(method, self.progressbar), structs["svmp_progress"]
        self._saved = time.monotonic()
        with Interrupts() as interrupts:

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
            compiled.check(lib.svmp_run_set_lag(run, 0 if self.callback is not None else 32))
            status = lib.svmp_run_go(run, ctypes.byref(outcome))
            lib.svmp_run_set_monitor(run, callbacks["svmp_monitor"](0), None)
            ended = _OUTCOMES.get(outcome.value, "unknown")
            bar.close(lib.svmp_run_iteration(run), lib.svmp_run_iterations(run), ended)
            return status, outcome.value, interrupts.seen


# ---- results ---------------------------------------------------------------------------------


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


def _state(compiled: Compiled, run: ctypes.c_void_p) -> bytes:
    """A checkpoint in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state")
        compiled.check(lib.svmp_run_save(run, os.fsencode(path)))
        return Path(path).read_bytes()


def _measure(compiled: Compiled, run: ctypes.c_void_p) -> Optional[Measured]:
    total, nodes = structs["svmp_discrepancy"](), (structs["svmp_discrepancy"] * max(compiled.nodes, 1))()
    status = lib.svmp_run_measure(run, ctypes.byref(total), nodes)
    if status == constants["SVMP_UNSUPPORTED"]:
        compiled.forget()
        return None
    compiled.check(status)
    return Measured(_numbers(total), {compiled.node_name(v): _numbers(nodes[v]) for v in range(compiled.nodes)})


def run_model(compiled: Compiled, options: Mapping[str, Any], init: Any, loop: Loop, measure: bool = True) -> RunResult:
    """One run, from the options to the result. Raises exceptions of callbacks again."""
    context = compiled.context
    given = dict(options)
    if isinstance(init, str) and is_start_text(init):
        given["init"], init = init, None
    handle = make_options(context, given)
    run = ctypes.c_void_p()
    try:
        check_sizes(context, lib.svmp_options_get(handle, b"method").decode(), given)
        with Interrupts() as interrupts:
            if loop.resume:
                compiled.check(lib.svmp_options_resume(handle, os.fsencode(loop.resume)))
            run = compiled.create(lib.svmp_run_create, compiled.handle, handle)
            settings = _settings(run)
            method = settings["method"]
            kind, _ = describe_method(context, method)
            if init is not None:
                start_run(compiled, run, init, kind == "chains")
                settings["init"] = "given"
            if loop.resume:
                compiled.check(lib.svmp_run_load(run, os.fsencode(loop.resume)))
        interrupts.check()  # before the first iteration there is no fit
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
        if measured is not None or (measure and kind == "chains" and not diverged):
            done = _OUTCOMES.get(outcome) in ("completed", "converged") and lib.svmp_run_iteration(run) > 0
            judged = judge_run(compiled, run, done, seconds)
        result = RunResult(
            current(run, context, lib.svmp_run_draws),
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
        if loop.keep and not diverged:
            result.state = _state(compiled, run)
        if interrupted:
            logger.warning("interrupted after iteration %d of %d", result.iterations, result.requested)
        if failure is not None:
            failure.result = result  # type: ignore[attr-defined]
            raise failure
        return result
    finally:
        lib.svmp_run_free(run)
        lib.svmp_options_free(handle)
