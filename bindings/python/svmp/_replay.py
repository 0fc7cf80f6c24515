"""Computes quantities of particles after a run: the log likelihood of each observation, and replicates of the data."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ._library import lib
from ._names import ArrayPlace
from ._options import make_options
from ._recipe import Reading
from ._sample import Sample
from ._start import current, start_from
from .errors import UnsupportedError

if TYPE_CHECKING:
    from .model import Model


def replay(model: "Model", sample: Sample, reading: Reading, seed: str) -> tuple[Sample, dict[str, ArrayPlace]]:
    """The particles of a sample in the model read with ``reading``: a run of no iterations that starts from them."""
    with model._borrow(reading) as compiled:
        places = {name: row for row, name in enumerate(sample.names)}
        missing = [name for name in compiled.unknown_names if name not in places]
        if missing:
            raise UnsupportedError(f"'{missing[0]}' cannot be computed from these particles")
        rows = [places[name] for name in compiled.unknown_names]
        start = Sample(list(compiled.unknown_names), np.ascontiguousarray(sample.values[rows]))
        options = make_options(
            compiled.context, {"method": "langevin", "init": "normal:0.001", "particles": start.count, "seed": seed}
        )
        run = ctypes.c_void_p()
        try:
            run = compiled.create(lib.svmp_run_create, compiled.handle, options)
            start_from(compiled, run, start)
            made = current(run, compiled.context)
            return made, compiled.find_arrays(made.names)
        finally:
            lib.svmp_run_free(run)
            lib.svmp_options_free(options)
