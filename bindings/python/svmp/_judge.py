"""The library's verdict on particles, and Ctrl-C while it works."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._compiled import Compiled
from ._context import Context
from ._library import callbacks, interface, lib, structs
from ._options import describe_method, make_options
from ._sample import Particles, Sample
from ._start import start_from


_codes = {number: name[len("SVMP_NOTE_") :].lower() for name, number in interface.enums["svmp_code"].items()}
_kinds = {number: name[len("SVMP_") :].lower() for name, number in interface.enums["svmp_note_kind"].items()}


class Interrupts:
    """Ctrl-C sets a flag while C code runs, through which an exception could not pass."""

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
    """A verdict of the library (svmp_verdict): its word, sentence, advice and numbers, and its lines in a file."""

    clear: bool
    word: str
    sentence: str
    advice: str
    evidence: dict[str, Any]
    record: dict[str, str]


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _fields(struct: Any) -> dict[str, Any]:
    return {name: _plain(getattr(struct, name)) for name, *_ in struct._fields_}


def _all(struct: str, function: Any, found: ctypes.c_void_p) -> list[dict[str, Any]]:
    one = structs[struct]()
    made: list[dict[str, Any]] = []
    while function(found, len(made), ctypes.byref(one)):
        made.append(_fields(one))
    return made


def _numbers(found: ctypes.c_void_p) -> dict[str, Any]:
    numbers = structs["svmp_examination"]()
    lib.svmp_verdict_examination(found, ctypes.byref(numbers))
    drifts, notes = _all("svmp_drift", lib.svmp_verdict_drift, found), _all("svmp_note", lib.svmp_verdict_note, found)
    for note in notes:
        note["code"], note["kind"] = _codes[note["code"]], _kinds[note["kind"]]
    return {**_fields(numbers), "drifts": drifts, "notes": notes}


def _judged(found: ctypes.c_void_p) -> Judged:
    buffer = ctypes.create_string_buffer(8192)
    lines = lib.svmp_verdict_record(found, buffer, len(buffer)).decode().splitlines()
    return Judged(
        bool(lib.svmp_verdict_is_clear(found)),
        lib.svmp_verdict_word(found).decode(),
        lib.svmp_verdict_sentence(found, buffer, len(buffer)).decode(),
        lib.svmp_verdict_advice(found, buffer, len(buffer)).decode(),
        _numbers(found),
        dict(line.split(" = ", 1) for line in lines),
    )


def judge_run(compiled: Compiled, run: ctypes.c_void_p, finished: bool, seconds: float) -> Optional[Judged]:
    """The library's verdict on a run, which may take a third of its time or five seconds, as in the command."""
    nodes = (structs["svmp_discrepancy"] * max(compiled.nodes, 1))()
    known = lib.svmp_run_discrepancy(run, ctypes.byref(structs["svmp_discrepancy"]()), nodes) == 0
    found = compiled.create(lib.svmp_verdict_create, compiled.context.handle)
    try:
        with Interrupts() as interrupts:
            watch = callbacks["svmp_monitor"](lambda *_: int(interrupts.seen))
            lib.svmp_run_set_monitor(run, watch, None)
            status = lib.svmp_run_verdict(run, nodes if known else None, max(5.0, seconds / 3) if finished else 0.0, found)
            lib.svmp_run_set_monitor(run, callbacks["svmp_monitor"](0), None)
        if status:
            compiled.forget()
            return None
        return _judged(found)
    finally:
        lib.svmp_verdict_free(found)


def _recall(found: ctypes.c_void_p, record: Mapping[str, str]) -> None:
    lib.svmp_verdict_recall(found, "".join(f"{name} = {value}\n" for name, value in record.items()).encode())


def recorded_advice(record: Mapping[str, str]) -> str:
    """The advice recorded in a file, worded for users of Python."""
    context, buffer = Context(), ctypes.create_string_buffer(2048)
    lines = "".join(f"{name} = {value}\n" for name, value in record.items())
    text: bytes = lib.svmp_recorded_advice(context.handle, lines.encode(), buffer, len(buffer))
    return text.decode()


def comes_from_sampler(context: Context, record: Mapping[str, str]) -> bool:
    """Whether the chains of a sample judge themselves; those of other methods are matched to averages, which the run has judged."""
    method = record.get("method")
    return method is None or describe_method(context, method)[0] == "chains"


def judge_chains(sample: Sample, record: Mapping[str, str]) -> Judged:
    """The verdict on chains from their draws and the record of their run."""
    context = Context()
    particles = Particles(context, sample)
    found = context.create(lib.svmp_verdict_create, context.handle)
    try:
        context.check(lib.svmp_chains_verdict(particles.handle, found))
        _recall(found, record)
        return _judged(found)
    finally:
        lib.svmp_verdict_free(found)


def examine(compiled: Compiled, sample: Sample, record: Mapping[str, str], seconds: float, moves: int) -> Judged:
    """Examines any particles, as ``svmp verify`` does; Ctrl-C ends it early.

    ``record`` has the method, the start and the number of iterations that the advice depends on. Chains that have not mixed are not
    examined.
    """
    most = 500  # evenly spaced ones if there are more
    some = (np.arange(1, most + 1) * sample.count // most - 1) if sample.count > most else np.arange(sample.count)
    of_sampler = sample.are_chains and comes_from_sampler(compiled.context, record)
    if sample.are_chains and not of_sampler:  # the last draw of each chain, as the run does
        some = np.arange(1, sample.chains + 1) * (sample.count // sample.chains) - 1
    if of_sampler:
        of_chains = judge_chains(sample, record)
        if not of_chains.clear:
            return of_chains
        some = np.arange(sample.count).reshape(sample.chains, -1)[:, :: of_chains.evidence["every"]].ravel()
    places = {name: row for row, name in enumerate(sample.names)}
    rows = [places[name] for name in compiled.unknown_names]
    start = Sample(list(compiled.unknown_names), np.ascontiguousarray(sample.values[rows][:, some]))
    options = make_options(compiled.context, {"method": "langevin", "init": "normal:0.001", "particles": start.count})
    run, found = ctypes.c_void_p(), ctypes.c_void_p()
    try:
        with Interrupts() as interrupts:
            found = compiled.create(lib.svmp_verdict_create, compiled.context.handle)
            run = compiled.create(lib.svmp_run_create, compiled.handle, options)
            start_from(compiled, run, start)
            watch = callbacks["svmp_monitor"](lambda *_: int(interrupts.seen))
            compiled.check(lib.svmp_run_set_monitor(run, watch, None))
            compiled.check(lib.svmp_run_examine(run, seconds, moves, found))
        if of_sampler:
            particles = Particles(compiled.context, sample)
            compiled.check(lib.svmp_chains_verdict(particles.handle, found))
        _recall(found, record)
        return _judged(found)
    finally:
        lib.svmp_verdict_free(found)
        lib.svmp_run_free(run)
        lib.svmp_options_free(options)
