"""Names of variables, "theta.3.1", and their arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray


@dataclass
class ArrayPlace:
    """The positions of an array's elements among the variables.

    ``first`` holds the smallest subscripts; an array of a model text begins at 1. ``rows`` are numbers of variables and ``flat``
    their positions in the array, row-major. ``known`` are the values of elements that are not variables.
    ``dims`` are the names of dimensions, and ``coords`` the labels along each, None where indices are counted; both may be empty.
    """

    name: str
    shape: tuple[int, ...]
    rows: NDArray[np.intp]
    flat: NDArray[np.intp]
    first: tuple[int, ...] = ()
    known: Optional[NDArray[np.float64]] = None
    complete: bool = field(default=True)
    dims: tuple[str, ...] = ()
    coords: tuple[Optional[list[str]], ...] = ()

    def take(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The array for each particle, from values of shape (variables, count): (count, *shape)."""
        count = values.shape[1]
        size = int(np.prod(self.shape, dtype=int))
        if self.complete and np.array_equal(self.flat, np.arange(size)):
            return np.ascontiguousarray(values[self.rows].T).reshape(count, *self.shape)
        made = np.full((count, size), np.nan)
        if self.known is not None:
            made[:] = self.known.ravel()
        made[:, self.flat] = values[self.rows].T
        return made.reshape(count, *self.shape)

    def labels(self) -> list[str]:
        """x[1,2] for each element, row-major, as in the model text."""
        if not self.shape:
            return [self.name]
        marks = [self.marks(k) for k in range(len(self.shape))]
        return [f"{self.name}[{','.join(str(marks[k][i]) for k, i in enumerate(at))}]" for at in np.ndindex(*self.shape)]

    def marks(self, k: int) -> list[Any]:
        """What the elements along a dimension are called: labels, or the subscripts themselves."""
        labels = self.coords[k] if self.coords else None
        return labels if labels is not None else list(range(self.first[k], self.first[k] + self.shape[k]))

    def index_of(self, subscripts: str) -> Optional[int]:
        """The position of the element that "York,2" or "3,2" names; None: there is none."""
        words = [word.strip() for word in subscripts.split(",")]
        if len(words) != len(self.shape):
            return None
        at = []
        for k, word in enumerate(words):
            marks = [str(mark) for mark in self.marks(k)]
            if word not in marks and word.isdigit():
                marks = [str(self.first[k] + i) for i in range(self.shape[k])]
            if word not in marks:
                return None
            at.append(marks.index(word))
        return int(np.ravel_multi_index(tuple(at), self.shape))


def _split(name: str, known: set[str]) -> tuple[str, tuple[int, ...]]:
    """("theta", (3, 1)) for "theta.3.1"; the longest matching array name wins."""
    if name in known:
        return name, ()
    match = re.fullmatch(r"(.*?)((?:\.\d+)+)", name)
    if match is None:
        return name, ()
    base, subscripts = match[1], match[2].split(".")[1:]
    for cut in range(len(subscripts), -1, -1):  # names may themselves end in .3
        candidate = ".".join([base, *subscripts[:cut]])
        if candidate in known:
            return candidate, tuple(map(int, subscripts[cut:]))
    return base, tuple(map(int, subscripts))


def find_arrays(
    names: Sequence[str],
    known_names: Iterable[str] = (),
    shapes: Optional[dict[str, tuple[int, ...]]] = None,
    known_values: Optional[dict[str, NDArray[np.float64]]] = None,
) -> dict[str, ArrayPlace]:
    """Groups variables into arrays, in the order in which they first appear.

    ``shapes`` and ``known_values`` are those of the model, for partly unknown arrays.
    """
    known = set(known_names)
    groups: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for row, name in enumerate(names):
        base, subscripts = _split(name, known)
        ranks = {len(at) for _, at in groups.get(base, [])}
        if ranks and ranks != {len(subscripts)}:  # x and x.1 are different things
            base, subscripts = name, ()
        groups.setdefault(base, []).append((row, subscripts))
    made: dict[str, ArrayPlace] = {}
    for base, members in groups.items():
        rows = np.array([row for row, _ in members], dtype=np.intp)
        rank = len(members[0][1])
        if rank == 0:
            made[base] = ArrayPlace(base, (), rows[:1], np.zeros(1, dtype=np.intp))
            continue
        at = np.array([subscripts for _, subscripts in members], dtype=np.intp)
        shape, values = (shapes or {}).get(base), (known_values or {}).get(base)
        first = (1,) * rank
        if shape is not None and len(shape) == rank:
            flat = np.ravel_multi_index(tuple((at - 1).T), shape)
            filled = np.zeros(int(np.prod(shape)), dtype=bool)
            filled[flat] = True
            if values is not None:
                filled |= np.isfinite(values).ravel()
            if not filled.all():
                shape = None  # some elements are neither unknown nor known: computed, and not monitored
        else:
            shape = None
        if shape is None:  # the smallest box of subscripts
            first = tuple(int(k) for k in at.min(axis=0))
            shape = tuple(int(k) for k in at.max(axis=0) - np.array(first) + 1)
            flat, values = np.ravel_multi_index(tuple((at - np.array(first)).T), shape), None
        complete = len(rows) == int(np.prod(shape))
        made[base] = ArrayPlace(base, shape, rows, np.asarray(flat, dtype=np.intp), first, values, complete)
    return made
