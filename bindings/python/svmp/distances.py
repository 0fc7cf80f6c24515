"""A start for models of distances."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._context import Context
from ._library import load_beside
from ._sample import Array


def localise(known: Any, start: Any, end: Any, ranges: Any) -> Array:
    """Positions from measured distances between points, some of which have known positions: a start for a run.

    Args:
        known: (points, dimension), NaN where the position is not known; 1 to 3 dimensions.
        start, end: the points of each distance, counted from 1 as in a model text.
        ranges: the distances.

    >>> import numpy as np, svmp
    >>> known = [[0, 0], [4, 0], [0, 3], [np.nan, np.nan]]
    >>> svmp.localise(known, [1, 1, 2, 1, 2, 3], [2, 3, 3, 4, 4, 4], [4, 3, 5, 5, 3, 4]).round(6)[3].tolist()
    [4.0, 3.0]
    """
    positions = np.ascontiguousarray(np.ma.filled(np.ma.asarray(known, dtype=np.float64), np.nan))
    first, last, length = np.asarray(start), np.asarray(end), np.ascontiguousarray(ranges, dtype=np.float64)
    if positions.ndim != 2:
        raise ValueError(f"known: expected shape (points, dimension), not {positions.shape}")
    if not first.shape == last.shape == length.shape or length.ndim != 1:
        raise ValueError(f"start, end and ranges have shapes {first.shape}, {last.shape} and {length.shape}: expected equal lengths")
    for label, points in (("start", first), ("end", last)):
        if points.dtype.kind not in "iu" or (len(points) and (points.min() < 1 or points.max() > len(positions))):
            raise ValueError(f"{label}: expected points from 1 to {len(positions)}")
    first, last = (np.ascontiguousarray(points - 1, dtype=np.uintp) for points in (first, last))
    made = np.empty_like(positions)
    slam, declared = load_beside("slam")
    kind = declared.structs["svmp_ranges"]
    fields = dict(kind._fields_)
    given = kind(
        points=positions.shape[0],
        dimension=positions.shape[1],
        known=positions.ctypes.data_as(fields["known"]),
        count=len(length),
        **{"from": first.ctypes.data_as(fields["from"])},
        to=last.ctypes.data_as(fields["to"]),
        range=length.ctypes.data_as(fields["range"]),
    )
    context = Context()
    context.check(slam.svmp_localise(context.handle, ctypes.byref(given), made.ctypes.data))
    return made
