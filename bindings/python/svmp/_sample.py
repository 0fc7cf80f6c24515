"""Particles with names, as numpy arrays, and conversion to and from the library's objects."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field, replace
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._context import Context
from ._library import lib, structs

Array = NDArray[np.float64]


def copy_numbers(address: Any, count: int) -> Array:
    """A copy of ``count`` numbers at an address or pointer."""
    if count == 0 or not address:
        return np.empty(0)
    where = address if isinstance(address, int) else ctypes.cast(address, ctypes.c_void_p).value
    return np.array(np.frombuffer(memoryview((ctypes.c_double * count).from_address(where or 0)), dtype=np.float64))


@dataclass
class Series:
    """Numbers along a dimension of the run, such as ``largest_phi`` along ``iteration``."""

    name: str
    along: str
    values: Array


@dataclass
class Sample:
    """``values[i, l]`` is variable ``i`` of particle ``l``; the particles of chains follow one another."""

    names: list[str]
    values: Array
    chains: int = 1
    are_chains: bool = False
    statistics: dict[str, Array] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    comments: str = ""
    compressed: Optional["Sample"] = None  # the same answer as few particles, which come with draws

    @property
    def count(self) -> int:
        return int(self.values.shape[1])

    def without(self, names: set[str]) -> "Sample":
        """The sample without some of its variables."""
        kept = [row for row, name in enumerate(self.names) if name not in names]
        if len(kept) == len(self.names):
            return self
        fewer = None if self.compressed is None else self.compressed.without(names)
        return replace(self, names=[self.names[row] for row in kept], values=self.values[kept], compressed=fewer)


def sample_from(handle: Any) -> Sample:
    """Copies an ``svmp_particles``."""
    variables, count = lib.svmp_particles_variables(handle), lib.svmp_particles_count(handle)
    names = [lib.svmp_particles_name(handle, i).decode() for i in range(variables)]
    values = copy_numbers(lib.svmp_particles_values(handle), variables * count).reshape(variables, count)
    made = Sample(names, values, lib.svmp_particles_chains(handle), bool(lib.svmp_particles_are_chains(handle)))
    for k in range(lib.svmp_particles_statistics(handle)):
        name = lib.svmp_particles_statistic_name(handle, k)
        made.statistics[name.decode()] = copy_numbers(lib.svmp_particles_statistic(handle, name), count)
    series, which = structs["svmp_series"](), 0
    while lib.svmp_particles_series(handle, which, ctypes.byref(series)):
        made.series.append(Series(series.name.decode(), series.along.decode(), copy_numbers(series.values, series.count)))
        which += 1
    made.comments = lib.svmp_particles_comments(handle).decode(errors="replace")
    if compressed := lib.svmp_particles_compressed(handle):
        made.compressed = sample_from(compressed)
    return made


class Particles:
    """An ``svmp_particles`` made of a sample, freed with this object."""

    def __init__(self, context: Context, sample: Sample) -> None:
        self.context = context
        values = np.ascontiguousarray(sample.values, dtype=np.float64)
        variables, count = values.shape
        self.handle = context.create(lib.svmp_particles_create, context.handle, variables, count, values.ctypes.data)
        context.retain()
        for i, name in enumerate(sample.names):
            context.check(lib.svmp_particles_set_name(self.handle, i, name.encode()))
        if sample.chains > 1:
            context.check(lib.svmp_particles_set_chains(self.handle, sample.chains))
        for name, numbers in sample.statistics.items():
            numbers = np.ascontiguousarray(numbers, dtype=np.float64)
            context.check(lib.svmp_particles_set_statistic(self.handle, name.encode(), numbers.ctypes.data))
        for series in sample.series:
            numbers = np.ascontiguousarray(series.values, dtype=np.float64)
            context.check(
                lib.svmp_particles_set_series(
                    self.handle, series.name.encode(), series.along.encode(), len(numbers), numbers.ctypes.data
                )
            )

        if sample.compressed is not None:
            fewer = Particles(context, sample.compressed)
            context.check(lib.svmp_particles_set_compressed(self.handle, fewer.handle))

    def __del__(self) -> None:
        if getattr(self, "handle", None) and lib is not None:
            lib.svmp_particles_free(self.handle)
            self.handle = ctypes.c_void_p()
            self.context.release()


def read_sample(path: Any) -> Sample:
    context = Context()
    handle = context.create(lib.svmp_particles_read, context.handle, os.fsencode(os.fspath(path)))
    try:
        return sample_from(handle)
    finally:
        lib.svmp_particles_free(handle)


def write_sample(sample: Sample, path: Any, comments: str, overwrite: bool, model: Any = None) -> None:
    """Writes a file; ``model`` is the handle of the model whose data a NetCDF file also holds."""
    context = Context()
    particles = Particles(context, sample)
    if model is not None:
        context.check(lib.svmp_particles_add_data(particles.handle, model))
    context.check(
        lib.svmp_particles_write(particles.handle, os.fsencode(os.fspath(path)), comments.encode(), int(overwrite))
    )


def summarise(sample: Sample, rows: NDArray[np.intp]) -> tuple[list[Any], list[Any]]:
    """Moments and mixing of some variables, each a struct of svmp.h."""
    context = Context()
    particles = Particles(context, sample)
    count = len(rows)
    which = (ctypes.c_size_t * max(count, 1))(*map(int, rows))
    moments = (structs["svmp_moments"] * max(count, 1))()
    mixing = (structs["svmp_mixing"] * max(count, 1))()
    context.check(lib.svmp_particles_summarise(particles.handle, count, which, moments, mixing))
    return list(moments[:count]), list(mixing[:count])


def criteria_of(sample: Sample) -> Any:
    """DIC and WAIC, a struct of svmp_tools.h."""
    context = Context()
    particles, made = Particles(context, sample), structs["svmp_criteria"]()
    context.check(lib.svmp_particles_criteria(particles.handle, ctypes.byref(made)))
    return made


def compare_samples(sample: Sample, reference: Sample) -> tuple[Any, list[Any], float]:
    """The comparison, the differences of each variable, and the limit of |z|."""
    context = Context()
    ours, theirs = Particles(context, sample), Particles(context, reference)
    comparison = structs["svmp_comparison"]()
    rows = (structs["svmp_difference"] * max(len(sample.names), 1))()
    context.check(lib.svmp_particles_compare(ours.handle, theirs.handle, ctypes.byref(comparison)))
    context.check(lib.svmp_particles_differences(ours.handle, theirs.handle, rows))
    return comparison, list(rows[: len(sample.names)]), float(lib.svmp_difference_limit(4 * len(sample.names)))
