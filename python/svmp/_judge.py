"""The library's verdict on particles, and Ctrl-C while it works."""

from __future__ import annotations

import ctypes
import signal
import threading
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._compiled import Compiled
from ._library import callbacks, lib, structs
from ._options import make_options
from ._sample import Sample
from ._start import start_from
from ._words import in_python


class Interrupts:
    """Ctrl-C sets a flag while C is at work, where an exception could not pass."""

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None

    def _handle(self, *_: Any) -> None:
        self.seen = True

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None:
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        if self.seen:
            raise KeyboardInterrupt


@dataclass
class Judged:
    """The library's verdict on the particles of a run (svmp_run_verdict)."""

    clear: bool
    finding: str
    sentence: str
    advice: str
    evidence: dict[str, Any]


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def judge_run(compiled: Compiled, run: ctypes.c_void_p, finished: bool, seconds: float) -> Optional[Judged]:
    """Asks the library for its verdict, which may take a third of the time of the run or five seconds, as in the command."""
    nodes = (structs["svmp_discrepancy"] * max(compiled.nodes, 1))()
    known = lib.svmp_run_discrepancy(run, ctypes.byref(structs["svmp_discrepancy"]()), nodes) == 0
    found = structs["svmp_verdict"]()
    with Interrupts() as interrupts:
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
        in_python(lib.svmp_verdict_advice(ctypes.byref(found), buffer, len(buffer)).decode()),
        evidence,
    )


def examine(compiled: Compiled, sample: Sample, origin: dict[str, Any], seconds: float, moves: int) -> Judged:
    """Puts particles from anywhere before the library's examination, as ``svmp verify`` does; Ctrl-C ends it early.

    ``origin`` has the method, the start and the number of iterations that the advice depends on.
    """
    most = 500  # of more, evenly spaced ones
    places = {name: row for row, name in enumerate(sample.names)}
    some = (np.arange(1, most + 1) * sample.count // most - 1) if sample.count > most else np.arange(sample.count)
    rows = [places[name] for name in compiled.unknown_names]
    start = Sample(list(compiled.unknown_names), np.ascontiguousarray(sample.values[rows][:, some]))
    options = make_options(compiled.context, {"method": "langevin", "init": "normal:0.001", "particles": start.count})
    run, found = ctypes.c_void_p(), structs["svmp_verdict"]()
    try:
        with Interrupts() as interrupts:
            run = compiled.create(lib.svmp_run_create, compiled.handle, options)
            start_from(compiled, run, start)
            watch = callbacks["svmp_monitor"](lambda *_: int(interrupts.seen))
            compiled.check(lib.svmp_run_set_monitor(run, watch, None))
            compiled.check(lib.svmp_run_examine(run, seconds, moves, ctypes.byref(found)))
        for name, value in origin.items():
            setattr(found, name, value)
        return _judged(found)
    finally:
        lib.svmp_run_free(run)
        lib.svmp_options_free(options)
