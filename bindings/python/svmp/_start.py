"""Starts of a run: arrays, dictionaries, other fits and files."""

from __future__ import annotations

import ctypes
import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._compiled import Compiled
from ._context import Context
from ._library import lib
from ._sample import Array, Particles, Sample, sample_from
from .errors import InputError


def _start_texts() -> list[str]:
    """The library's starts: "prior", "normal:SD", ..."""
    made: list[str] = []
    while (choice := lib.svmp_option_choice(b"init", len(made))) is not None:
        made.append(choice.decode())
    return made


def is_start_text(text: str) -> bool:
    """Whether a text is one of the library's starts and not a file."""
    pairs = (choice.partition(":") for choice in _start_texts())
    return any(text == word or (bool(colon) and text.startswith(word + ":")) for word, colon, _ in pairs)


def current(run: ctypes.c_void_p, context: Context, take: Any = None) -> Sample:
    """The particles of a run; or its answer, with ``take=lib.svmp_run_draws``."""
    handle = context.create(take or lib.svmp_run_particles, run)
    try:
        return sample_from(handle)
    finally:
        lib.svmp_particles_free(handle)


def _drawn_start(compiled: Compiled, run: ctypes.c_void_p) -> Sample:
    """The unknowns at the start of a run."""
    sample = current(run, compiled.context)
    places = {name: row for row, name in enumerate(sample.names)}
    return Sample(list(compiled.unknown_names), sample.values[[places[name] for name in compiled.unknown_names]])


def start_from(compiled: Compiled, run: ctypes.c_void_p, sample: Sample) -> None:
    particles = Particles(compiled.context, sample)
    compiled.check(lib.svmp_run_start_from(run, particles.handle))


def _scatter(compiled: Compiled, point: Array, around: Sample) -> Array:
    """Particles around one point: the drawn start on the unconstrained scale, shifted to have the point as its mean."""
    drawn = compiled.unconstrain(around.values)
    centre = compiled.unconstrain(point.reshape(-1, 1))
    return compiled.constrain(drawn - drawn.mean(axis=1, keepdims=True) + centre)


def start_dict(compiled: Compiled, run: ctypes.c_void_p, init: Mapping[str, Any], chains: bool) -> None:
    """Starts from arrays by name: one value for all particles, (*shape), or one for each, (count, *shape). Names that are missing,
    and elements that are NaN, are drawn as without a start."""
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
            rows = np.broadcast_to(given.ravel()[place.flat][:, None], (len(place.rows), count))
        elif given.shape == (count, *place.shape):
            rows = given.reshape(count, -1)[:, place.flat].T
        else:
            raise ValueError(
                f"init '{name}': expected shape {place.shape} or {(count, *place.shape)} (one for each particle), not {given.shape}"
            )
        if np.isinf(rows).any() or np.isnan(rows).all():
            raise ValueError(f"init '{name}': a value is not finite")
        sample.values[place.rows] = np.where(np.isnan(rows), sample.values[place.rows], rows)  # NaN: as drawn
    compiled.check_values(sample.values)
    if point_given and not chains and count > 1:  # identical particles would stay identical
        same = (sample.values == sample.values[:, :1]).all(axis=1)
        point = np.where(same, sample.values[:, 0], sample.values.mean(axis=1))
        scattered = _scatter(compiled, point, drawn)
        sample.values[same] = scattered[same]
    start_from(compiled, run, sample)


def _join(init: Sequence[Mapping[str, Any]], count: int) -> dict[str, Any]:
    """Joins a list of dictionaries, one for each chain or particle, into one dictionary of arrays."""
    if len(init) != count:
        raise ValueError(f"init: {len(init)} dictionaries for {count} chains or particles")
    shapes = {name: np.shape(value) for one in init for name, value in one.items()}
    try:
        return {
            name: np.stack([np.asarray(one.get(name, np.full(shape, np.nan)), dtype=np.float64) for one in init])
            for name, shape in shapes.items()
        }
    except (TypeError, ValueError):
        raise ValueError("init: the dictionaries must have numbers and arrays of the same shapes") from None


def start_array(compiled: Compiled, run: ctypes.c_void_p, init: Array, chains: bool) -> None:
    names = compiled.unknown_names
    drawn = _drawn_start(compiled, run)
    if init.ndim == 1 and init.shape[0] == len(names):
        compiled.check_values(init[:, None])
        values = np.repeat(init[:, None], drawn.count, axis=1)
        if not chains and drawn.count > 1:
            values = _scatter(compiled, init, drawn)
    elif init.ndim == 2 and init.shape[1] == len(names):
        values = np.ascontiguousarray(init.T)
        compiled.check_values(values)
    else:
        raise ValueError(f"init: expected shape (particles, {len(names)}) or ({len(names)},), not {init.shape}")
    start_from(compiled, run, Sample(list(names), values))


def start_run(compiled: Compiled, run: ctypes.c_void_p, init: Any, chains: bool) -> None:
    if isinstance(init, Sequence) and init and all(isinstance(one, Mapping) for one in init):
        init = _join(init, current(run, compiled.context).count)
    if isinstance(init, Mapping):
        start_dict(compiled, run, init, chains)
    elif isinstance(init, Sample):
        start_from(compiled, run, init)
    elif isinstance(init, (str, os.PathLike)):
        path = os.fspath(init)
        if not os.path.exists(path):
            words = [text.partition(":")[0] for text in _start_texts()]
            close = difflib.get_close_matches(str(path), words, 1)
            hint = f"; did you mean '{close[0]}'?" if close else f"; starts are {', '.join(_start_texts())}"
            raise InputError(f"init '{path}': neither a start nor a file{hint}")
        compiled.check(lib.svmp_run_start_from_file(run, os.fsencode(path)))
    else:
        try:
            values = np.asarray(init, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"init: expected a text, a dictionary, an array or a fit, not {type(init).__name__}") from None
        start_array(compiled, run, values, chains)
