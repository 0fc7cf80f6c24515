"""Names of dimensions and labels along them, as PyMC and ArviZ call them: dims and coords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np

from ._names import ArrayPlace

Dims = Mapping[str, Union[str, Sequence[Optional[str]]]]
Coords = Mapping[str, Iterable[Any]]


@dataclass
class Axes:
    """``dims["u"]`` names the dimensions of u, and ``coords["hospital"]`` has the labels along one."""

    dims: dict[str, list[Optional[str]]] = field(default_factory=dict)
    coords: dict[str, list[Any]] = field(default_factory=dict)

    def apply(self, name: str, place: ArrayPlace) -> None:
        """Names the dimensions of an array; labels stay those of text in the data where there are no others."""
        given = self.dims.get(name)
        if given is None or len(given) != len(place.shape):
            return
        old = place.dims or tuple(f"{name}_dim_{k}" for k in range(len(given)))
        labels = list(place.coords or [None] * len(given))
        for k, dim in enumerate(given):
            marks = self.coords.get(dim) if dim is not None else None
            if marks is not None and place.first[k] + place.shape[k] - 1 <= len(marks):
                labels[k] = marks[place.first[k] - 1 : place.first[k] - 1 + place.shape[k]]
        place.dims = tuple(old[k] if dim is None else dim for k, dim in enumerate(given))
        place.coords = tuple(labels)

    def of(self, name: str, shape: Sequence[int]) -> tuple[list[str], dict[str, Any]]:
        """Dimensions and coordinates of an array of the data, whose elements are counted from 1."""
        size = int(np.prod(shape, dtype=int))
        place = ArrayPlace(name, tuple(shape), np.arange(size), np.arange(size), (1,) * len(shape))
        self.apply(name, place)
        dims = list(place.dims) or [f"{name}_dim_{k}" for k in range(len(shape))]
        return dims, {dim: np.asarray(place.marks(k)) for k, dim in enumerate(dims)}


def make_axes(dims: Optional[Dims], coords: Optional[Coords], shapes: Mapping[str, tuple[int, ...]]) -> Axes:
    """Checks dims and coords against the arrays of a model."""
    made = Axes()
    for dim, labels in (coords or {}).items():
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(f"coords '{dim}': expected a list of labels, not {labels!r}")
        made.coords[str(dim)] = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for name, given in (dims or {}).items():
        names: list[Optional[str]] = list(given) if isinstance(given, (list, tuple)) else [given]  # type: ignore[list-item]
        if not all(dim is None or isinstance(dim, str) for dim in names):
            raise TypeError(f"dims '{name}': expected names, not {given!r}")
        if name not in shapes:
            raise ValueError(f"dims '{name}': the model has no such array; it has {', '.join(shapes)}")
        if len(names) != len(shapes[name]):
            raise ValueError(f"dims '{name}': {len(names)} names for an array of shape {shapes[name]}")
        for axis, extent in zip(names, shapes[name]):
            marks = made.coords.get(axis) if axis is not None else None
            if marks is not None and len(marks) != extent:
                raise ValueError(f"coords '{axis}': {len(marks)} labels, but '{name}' has {extent} elements along it")
        made.dims[name] = names
    return made
