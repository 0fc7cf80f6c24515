"""A finished model in its own context, with the functions that Python uses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._axes import Axes
from ._context import Context
from ._library import lib, structs
from ._names import ArrayPlace, find_arrays
from ._sample import Array, copy_numbers
from .errors import Error


class TextArray:
    """An array of a model text: ``unknown``, ``observed`` and ``computed`` count or describe its elements."""

    def __init__(self, raw: Any) -> None:
        self.name: str = raw.name.decode()
        self.shape: tuple[int, ...] = tuple(raw.dimensions[k] for k in range(raw.rank))
        self.unknown, self.observed, self.computed = (
            None if text is None else text.decode() for text in (raw.unknown, raw.observed, raw.computed)
        )
        self.unknown_count: int = raw.unknown_count
        for name in ("drawn_count", "summed_count"):  # unknowns that are drawn after a run
            self.unknown_count += getattr(raw, name, 0)
        self.observed_count: int = raw.observed_count
        size = int(np.prod(self.shape))
        self.values: Optional[Array] = copy_numbers(raw.values, size).reshape(self.shape) if raw.values else None
        self.known: Optional[Array] = copy_numbers(raw.known, size).reshape(self.shape) if raw.known else None
        description = self.unknown or self.observed or self.computed or ""
        if self.shape == (1,) and "[" not in description:  # a single number
            self.shape = ()
            self.values = None if self.values is None else self.values.reshape(())


class Compiled:
    """Owns a context and a model; ``failures`` collects exceptions of factors that are Python functions."""

    def __init__(self, build: Callable[[Context, list[BaseException]], tuple[ctypes.c_void_p, Any]], threads: int, axes: Axes) -> None:
        self.context = Context()
        self.axes = axes
        self.context.set_threads(threads)
        self.failures: list[BaseException] = []
        self.handle = ctypes.c_void_p()
        self.handle, self._keep = build(self.context, self.failures)
        self.context.retain()
        graph = lib.svmp_model_graph(self.handle)
        self.variables: int = lib.svmp_graph_variables(graph)
        self.nodes: int = lib.svmp_graph_nodes(graph)
        self.factors: int = lib.svmp_graph_factors(graph)

    def __del__(self) -> None:
        if getattr(self, "handle", None) and lib is not None:
            lib.svmp_model_free(self.handle)
            self.handle = ctypes.c_void_p()
            self.context.release()

    def forget(self) -> None:
        """Drops errors of a call whose failure does not matter."""
        self.failures.clear()
        self.context._said.clear()

    def check(self, status: int) -> None:
        """Raises the exception of a call; an exception of a Python function comes first."""
        try:
            self.context.check(status)
        except Error as error:
            if self.failures:
                failure = self.failures[0]
                self.failures.clear()
                raise failure from error
            raise

    def create(self, function: Any, *arguments: Any) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.check(function(*arguments, ctypes.byref(made)))
        return made

    # ---- names ----------------------------------------------------------------------------------

    def _name(self, function: Any, which: int) -> str:
        buffer = ctypes.create_string_buffer(1024)
        text: bytes = function(self.handle, which, buffer, len(buffer))
        return text.decode()

    def node_name(self, node: int) -> str:
        return self._name(lib.svmp_model_node_name, node)

    @cached_property
    def variable_names(self) -> list[str]:
        return [self._name(lib.svmp_model_variable_name, i) for i in range(self.variables)]

    @cached_property
    def _value_names(self) -> list[str]:
        return [self._name(lib.svmp_model_value_name, i) for i in range(lib.svmp_model_values(self.handle))]

    @cached_property
    def _unknown_rows(self) -> NDArray[np.intp]:
        """The rows of values that variables determine; others are drawn after a run."""
        return np.flatnonzero(~np.isnan(self._to_values(np.zeros((self.variables, 1)))[:, 0]))

    @cached_property
    def text_arrays(self) -> list[TextArray]:
        raw = structs["svmp_array"]()
        made: list[TextArray] = []
        while lib.svmp_model_array(self.handle, len(made), ctypes.byref(raw)):
            made.append(TextArray(raw))
        return made

    @cached_property
    def known_names(self) -> list[str]:
        """Names of arrays, of a text or of nodes, to distinguish a node x.1 from an element of an array x."""
        if self.text_arrays:
            return [array.name for array in self.text_arrays]
        return []

    @cached_property
    def unknown_names(self) -> list[str]:
        return [self._value_names[row] for row in self._unknown_rows]

    def find_arrays(self, names: list[str]) -> dict[str, ArrayPlace]:
        shapes = {array.name: array.shape for array in self.text_arrays}
        known = {array.name: array.known for array in self.text_arrays if array.known is not None}
        made = find_arrays(names, self.known_names, shapes, known)
        for name, place in made.items():
            self._label(name, place)
            self.axes.apply(name, place)
        return made

    def _label(self, name: str, place: ArrayPlace) -> None:
        """Gives the dimensions that text subscripts their names and labels."""
        which = [lib.svmp_model_label(self.handle, name.encode(), k, 0) for k in range(len(place.shape))]
        if not any(which):
            return
        place.dims = tuple(f"{name}_dim_{k}" if text is None else text.decode() for k, text in enumerate(which))
        place.coords = tuple(None if text is None else self._labels_along(name, place, k) for k, text in enumerate(which))

    def _labels_along(self, name: str, place: ArrayPlace, k: int) -> list[str]:
        found = [
            (index, lib.svmp_model_label(self.handle, name.encode(), k, index))
            for index in range(place.first[k], place.first[k] + place.shape[k])
        ]
        return [str(index) if label is None else label.decode() for index, label in found]

    @cached_property
    def unknown_arrays(self) -> dict[str, ArrayPlace]:
        return self.find_arrays(self.unknown_names)

    # ---- numbers: particle-fast, (variables, n) ---------------------------------------------------

    def evaluate(self, x: Array, density: bool, score: bool) -> tuple[Optional[Array], Optional[Array]]:
        n = x.shape[1]
        value = np.empty(n) if density else None
        gradient = np.empty((self.variables, n)) if score else None
        self.check(
            lib.svmp_model_evaluate(
                self.handle,
                n,
                x.ctypes.data,
                None if value is None else value.ctypes.data,
                None if gradient is None else gradient.ctypes.data,
            )
        )
        return value, gradient

    def _to_values(self, x: Array) -> Array:
        x = np.ascontiguousarray(x)
        made = np.empty((len(self._value_names), x.shape[1]))
        self.check(lib.svmp_model_to_values(self.handle, x.shape[1], x.ctypes.data, made.ctypes.data))
        return made

    def constrain(self, x: Array) -> Array:
        """Natural values of the unknowns."""
        return self._to_values(x)[self._unknown_rows]

    def check_values(self, values: Array) -> None:
        """Raises an exception for values that are not finite, or that the model does not allow."""
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise ValueError(f"'{self.unknown_names[bad[0, 0]]}': the value {values[tuple(bad[0])]} is not finite")
        self.unconstrain(values)

    def unconstrain(self, values: Array) -> Array:
        """The variables of natural values."""
        whole = np.full((len(self._value_names), values.shape[1]), np.nan)
        whole[self._unknown_rows] = values
        made = np.empty((self.variables, values.shape[1]))
        self.check(lib.svmp_model_from_values(self.handle, values.shape[1], whole.ctypes.data, made.ctypes.data))
        return made
