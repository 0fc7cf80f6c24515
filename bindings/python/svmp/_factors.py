"""Factors that are functions, and the nodes that they read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import numpy as np

from ._library import callbacks
from ._sample import Array


class Node(NamedTuple):
    """A node: its shape in functions, () for a number, and where its values lie."""

    shape: tuple[int, ...]
    support: str
    lower: Optional[Array] = None
    upper: Optional[Array] = None

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))


class Factor:
    """A function of nodes as the library calls it: takes addresses, returns numbers, keeps exceptions for later."""

    def __init__(self, label: str, function: Callable[..., Any], nodes: list[Node]) -> None:
        self.label, self.function, self.shapes = label, function, [node.shape for node in nodes]
        self.sizes = [node.size for node in nodes]
        self.rows = sum(self.sizes)
        self._block: Any = None  # the type of the rows of n particles, one behind the other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_block": None}

    def _arguments(self, rows: Array) -> list[Array]:
        made, at = [], 0
        for shape, size in zip(self.shapes, self.sizes):
            made.append(rows[at].reshape(-1) if shape == () else rows[at : at + size].T.reshape(-1, *shape))
            at += size
        return made

    def evaluate(self, rows: Array) -> tuple[Array, list[Array]]:
        n = rows.shape[1]
        result = self.function(*self._arguments(rows))
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"{self.label}: the function must return a pair, value and gradient")
        value, gradient = result
        value = np.asarray(value, dtype=np.float64)
        if value.shape != (n,):
            raise ValueError(f"{self.label}: the value has shape {value.shape} instead of ({n},), one for each particle")
        if len(self.shapes) == 1 and not isinstance(gradient, (tuple, list)):
            gradient = (gradient,)
        if len(gradient) != len(self.shapes):
            raise ValueError(f"{self.label}: {len(gradient)} gradients for {len(self.shapes)} nodes")
        parts: list[Array] = []
        for k, (part, shape) in enumerate(zip(gradient, self.shapes)):
            part = np.asarray(part, dtype=np.float64)
            if part.shape != (n, *shape):
                raise ValueError(f"{self.label}: gradient {k + 1} has shape {part.shape} instead of {(n, *shape)}")
            parts.append(part.reshape(n, -1).T)
        return value, parts

    def _view(self, addresses: list[int], n: int) -> Optional[Array]:
        """The rows where they are, if they are one behind the other."""
        first = addresses[0]
        if any(address != first + 8 * n * k for k, address in enumerate(addresses)):
            return None
        if self._block is None or self._block._length_ != n * self.rows:
            self._block = ctypes.c_double * (n * self.rows)
        return np.frombuffer(self._block.from_address(first), dtype=np.float64).reshape(self.rows, n)

    def callback(self, failures: list[BaseException]) -> Any:
        pointers, count = ctypes.c_size_t * self.rows, self.rows
        one = ctypes.sizeof(ctypes.c_double)

        def call(n: int, x: int, value: int, gradient: int, _: Any) -> int:
            try:
                addresses, places = pointers.from_address(x)[:], pointers.from_address(gradient)[:]
                view, to = self._view(addresses, n), self._view(places, n)
                if view is not None:
                    rows = view.copy()  # the function may keep it
                else:
                    rows = np.empty((count, n))
                    for k, address in enumerate(addresses):
                        ctypes.memmove(rows[k].ctypes.data, address, one * n)
                found, parts = self.evaluate(rows)
                ctypes.memmove(value, np.ascontiguousarray(found).ctypes.data, one * n)
                made = parts[0] if len(parts) == 1 else np.concatenate(parts)
                if to is not None:
                    to[...] = made
                else:
                    for place, row in zip(places, made):
                        ctypes.memmove(place, np.ascontiguousarray(row).ctypes.data, one * n)
            except BaseException as error:  # it must not pass through C; it is raised again after the call
                failures.append(error)
                return 1
            return 0

        return callbacks["svmp_factor_function"](call)


class Quadratic:
    """exp(b'x - x'Ax/2) as a function, for nodes with bounds or a support; a class, so that it can be pickled."""

    __name__ = "gaussian"

    def __init__(self, a: Array, b: Array, shapes: list[tuple[int, ...]]) -> None:
        self.a, self.b, self.shapes = a, b, shapes

    def __call__(self, *x: Array) -> tuple[Array, tuple[Array, ...]]:
        flat = np.concatenate([part.reshape(len(part), -1) for part in x], axis=1)
        slope = self.b - flat @ self.a
        cuts = np.cumsum([int(np.prod(shape, dtype=int)) for shape in self.shapes])[:-1]
        parts = [part.reshape(len(flat), *shape) for part, shape in zip(np.split(slope, cuts, axis=1), self.shapes)]
        return 0.5 * ((self.b + slope) * flat).sum(axis=1), tuple(parts)
