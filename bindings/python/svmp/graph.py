"""Graphs built in Python: nodes, Gaussian factors and functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np

from ._autodiff import wrap
from ._context import Context
from ._library import callbacks, lib, structs
from ._recipe import Reading, Recipe
from ._sample import Array
from .model import Model

Names = Union[str, Sequence[str]]


class _Factor:
    """A function of nodes as the library calls it: takes addresses, returns numbers, keeps exceptions for later."""

    def __init__(self, label: str, function: Callable[..., Any], dimensions: list[int]) -> None:
        self.label, self.function, self.dimensions = label, function, dimensions

    def _arguments(self, n: int, addresses: Any) -> list[Array]:
        rows = np.empty((sum(self.dimensions), n))
        for k in range(len(rows)):
            ctypes.memmove(rows[k].ctypes.data, addresses[k], 8 * n)
        made, at = [], 0
        for dimension in self.dimensions:
            made.append(rows[at] if dimension == 1 else rows[at : at + dimension].T)
            at += dimension
        return made

    def evaluate(self, n: int, x: Any) -> tuple[Array, list[Array]]:
        result = self.function(*self._arguments(n, x))
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"{self.label}: the function must return a pair, value and gradient")
        value, gradient = result
        value = np.asarray(value, dtype=np.float64)
        if value.shape != (n,):
            raise ValueError(f"{self.label}: the value has shape {value.shape} instead of ({n},), one for each particle")
        if len(self.dimensions) == 1 and not isinstance(gradient, (tuple, list)):
            gradient = (gradient,)
        if len(gradient) != len(self.dimensions):
            raise ValueError(f"{self.label}: {len(gradient)} gradients for {len(self.dimensions)} nodes")
        rows: list[Array] = []
        for k, (part, dimension) in enumerate(zip(gradient, self.dimensions)):
            part = np.asarray(part, dtype=np.float64)
            expected = (n,) if dimension == 1 else (n, dimension)
            if part.shape != expected:
                raise ValueError(f"{self.label}: gradient {k + 1} has shape {part.shape} instead of {expected}")
            rows += [part] if dimension == 1 else list(part.T)
        return value, rows

    def callback(self, failures: list[BaseException]) -> Any:
        pointers = ctypes.POINTER(ctypes.c_void_p)

        def call(n: int, x: int, value: int, gradient: int, _: Any) -> int:
            try:
                found, rows = self.evaluate(n, ctypes.cast(x, pointers))
                ctypes.memmove(value, np.ascontiguousarray(found).ctypes.data, 8 * n)
                places = ctypes.cast(gradient, pointers)
                for k, row in enumerate(rows):
                    ctypes.memmove(places[k], np.ascontiguousarray(row).ctypes.data, 8 * n)
            except BaseException as error:  # it must not pass through C; it is raised again after the call
                failures.append(error)
                return 1
            return 0

        return callbacks["svmp_factor_function"](call)


class Graph(Recipe):
    """A graphical model, p(x) proportional to exp(sum of factors), from nodes and factors.

    >>> import numpy as np, svmp
    >>> g = svmp.Graph()
    >>> g.node("x", 2)
    >>> g.node("y")
    >>> g.gaussian("x", precision=np.eye(2))
    >>> def near(x, y):                          # for all particles at once: x is (n, 2), y is (n,)
    ...     off = y - x.sum(axis=1)
    ...     return -0.5 * off**2, (off[:, None] * np.ones(2), -off)
    >>> g.factor(["x", "y"], near)
    >>> fit = g.model().fit(particles=50, progressbar=False)
    >>> fit["x"].shape, fit["y"].shape
    ((2500, 2), (2500,))
    """

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}  # name -> dimension
        self._bounds: dict[str, tuple[Optional[Array], Optional[Array]]] = {}
        self._order: list[tuple[str, Any]] = []
        self._fields: dict[str, int] = {}
        self._has_functions = False

    @property
    def threads(self) -> int:  # type: ignore[override]
        """Functions hold Python's global lock, so more threads would only wait."""
        return 1 if self._has_functions else 0

    # ---- building -------------------------------------------------------------------------------

    def node(self, name: str, dimension: int = 1, *, lower: Any = None, upper: Any = None) -> None:
        """Adds a node. ``lower`` and ``upper``, a number or one for each variable, bound a box."""
        if not isinstance(name, str) or not name:
            raise TypeError(f"node: {name!r} is not a name")
        if name in self._nodes or name in self._fields:
            raise ValueError(f"node '{name}': the graph already has a node of that name")
        if isinstance(dimension, bool) or not isinstance(dimension, (int, np.integer)) or dimension < 1:
            raise ValueError(f"node '{name}': the dimension must be a number of at least 1, not {dimension!r}")
        bounds: list[Optional[Array]] = []
        for label, bound in (("lower", lower), ("upper", upper)):
            try:
                bounds.append(None if bound is None else np.broadcast_to(np.asarray(bound, dtype=np.float64), (dimension,)).copy())
            except (TypeError, ValueError):
                raise ValueError(f"node '{name}': {label} must be a number or {dimension} numbers") from None
        self._nodes[name] = int(dimension)
        self._bounds[name] = (bounds[0], bounds[1])
        self._order.append(("node", name))

    def _scope(self, what: str, nodes: Names) -> list[str]:
        names = [nodes] if isinstance(nodes, str) else list(nodes)
        if not names:
            raise ValueError(f"{what}: no nodes were given")
        for name in names:
            if name not in self._nodes:
                raise ValueError(f"{what}: the graph has no node '{name}'; it has {', '.join(self._nodes) or 'none'}")
        if len(set(names)) != len(names):
            raise ValueError(f"{what}: a node is listed twice: {', '.join(names)}")
        return names

    def gaussian(self, nodes: Names, precision: Any = None, linear: Any = None, *, mean: Any = None) -> None:
        """Adds the factor exp(b'x - x'Ax/2) of the variables of some nodes.

        Args:
            precision: A, (k, k) and symmetric; or a number, for A times the identity.
            linear: b, k numbers.
            mean: in place of ``linear``: b = A mean.
        """
        names = self._scope("gaussian", nodes)
        k = sum(self._nodes[name] for name in names)
        a = np.zeros((k, k))
        if precision is not None:
            if hasattr(precision, "toarray"):
                precision = precision.toarray()
            a = _numbers("gaussian: the precision", precision)
            a = a * np.eye(k) if a.ndim == 0 else a
        if a.shape != (k, k):
            raise ValueError(f"gaussian: the precision has shape {a.shape}, but the nodes have {k} variables")
        if linear is not None and mean is not None:
            raise ValueError("gaussian: give linear or mean, not both")
        b = np.zeros(k)
        if linear is not None or mean is not None:
            given = _numbers(f"gaussian: {'linear' if mean is None else 'mean'}", linear if mean is None else mean)
            if given.shape not in ((), (k,)):
                raise ValueError(f"gaussian: {'linear' if mean is None else 'mean'} has shape {given.shape} instead of ({k},)")
            b = np.broadcast_to(given, (k,)).copy()
            b = b if mean is None else a @ b
        self._order.append(("gaussian", (names, np.ascontiguousarray(a), np.ascontiguousarray(b))))

    def field(self, name: str, precision: Any, linear: Any = None) -> None:
        """Adds a Gaussian field: a node for each row of a sparse precision matrix, and factors for its entries.

        Args:
            name: the nodes are called name.1, name.2, ... and are the array ``fit[name]``.
            precision: a ``scipy.sparse`` or dense matrix, symmetric.
            linear: b of exp(b'x - x'Ax/2).
        """
        if name in self._nodes or name in self._fields:
            raise ValueError(f"field '{name}': the graph already has a node of that name")
        rows, columns, values, n = _entries(name, precision)
        b = np.zeros(n)
        if linear is not None:
            given = linear.toarray().ravel() if hasattr(linear, "toarray") else _numbers(f"field '{name}': linear", linear)
            if given.shape not in ((), (n,), (n, 1)):
                raise ValueError(f"field '{name}': linear has shape {given.shape} instead of ({n},)")
            b = np.ascontiguousarray(np.broadcast_to(given.ravel() if given.ndim else given, (n,)), dtype=np.float64)
        self._fields[name] = n
        for k in range(n):
            self._nodes[f"{name}.{k + 1}"] = 1
        self._order.append(("field", (name, n, rows, columns, values, b)))

    def factor(self, nodes: Names, function: Callable[..., Any], *, autodiff: Optional[str] = None) -> None:
        """Adds a factor given by a function.

        Args:
            nodes: the nodes that it reads.
            function: called with one array for each node, for n particles at once: ``(n,)`` for a node of one variable, else
                ``(n, dimension)``. It returns the log values, ``(n,)``, and the gradients, one array for each node in its shape.
                -inf is a density of zero.
            autodiff: ``"jax"``: the function takes one particle, returns its log value, and is differentiated by JAX;
                ``"torch"``: it takes tensors of n particles, returns n log values, and is differentiated by PyTorch.
        """
        names = self._scope("factor", nodes)
        if not callable(function):
            raise TypeError(f"factor: {type(function).__name__} cannot be called")
        dimensions = [self._nodes[name] for name in names]
        label = f"factor {getattr(function, '__name__', 'function')}({', '.join(names)})"
        self._has_functions = True
        self._order.append(("factor", (names, _Factor(label, wrap(function, autodiff), dimensions))))

    # ---- the model ------------------------------------------------------------------------------

    def model(self, *, threads: int = 0) -> Model:
        """The finished model."""
        if not self._nodes:
            raise ValueError("the graph has no nodes")
        return Model(self._copy(), threads=threads)

    def fit(self, *arguments: Any, **options: Any) -> Any:
        """``model().fit(...)``"""
        return self.model().fit(*arguments, **options)

    def sample(self, *arguments: Any, **options: Any) -> Any:
        """``model().sample(...)``"""
        return self.model().sample(*arguments, **options)

    def _copy(self) -> "Graph":
        made = Graph()
        made._nodes, made._bounds, made._fields = dict(self._nodes), dict(self._bounds), dict(self._fields)
        made._order, made._has_functions = list(self._order), self._has_functions
        return made

    def build(self, context: Context, failures: list[BaseException], reading: Reading) -> tuple[ctypes.c_void_p, Any]:
        handle = context.create(lib.svmp_model_create, context.handle)
        try:
            return handle, self._build(context, handle, failures)
        except BaseException:
            lib.svmp_model_free(handle)
            raise

    def _build(self, context: Context, handle: ctypes.c_void_p, failures: list[BaseException]) -> Any:
        numbers: dict[str, int] = {}
        keep: list[Any] = []
        for kind, what in self._order:
            if kind == "node":
                numbers[what] = len(numbers)
                lower, upper = self._bounds[what]
                context.check(
                    lib.svmp_model_add_node(
                        handle,
                        what.encode(),
                        self._nodes[what],
                        None if lower is None else lower.ctypes.data,
                        None if upper is None else upper.ctypes.data,
                        None,
                    )
                )
            elif kind == "gaussian":
                names, a, b = what
                context.check(lib.svmp_model_add_gaussian(handle, *_list(numbers, names), a.ctypes.data, b.ctypes.data))
            elif kind == "field":
                _build_field(context, handle, numbers, *what)
            else:
                names, factor = what
                function = factor.callback(failures)
                keep.append(function)
                context.check(lib.svmp_model_add_callback(handle, *_list(numbers, names), function, None))
        context.check(lib.svmp_model_finish(handle))
        return keep


def _numbers(what: str, value: Any) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is not an array of numbers") from None


def _list(numbers: dict[str, int], names: list[str]) -> tuple[int, Any]:
    return len(names), (ctypes.c_size_t * len(names))(*(numbers[name] for name in names))


def _build_field(
    context: Context, handle: ctypes.c_void_p, numbers: dict[str, int], name: str, n: int, rows: Any, columns: Any, values: Any, b: Array
) -> None:
    first = len(numbers)
    for k in range(n):
        label = f"{name}.{k + 1}"
        numbers[label] = first + k
        context.check(lib.svmp_model_add_node(handle, label.encode(), 1, None, None, None))
    kind = structs["svmp_field"]
    fields = dict(kind._fields_)
    field = kind(
        entries=len(values),
        rows=rows.ctypes.data_as(fields["rows"]),
        columns=columns.ctypes.data_as(fields["columns"]),
        values=values.ctypes.data_as(fields["values"]),
        linear=b.ctypes.data_as(fields["linear"]),
    )
    context.check(lib.svmp_model_add_field(handle, first, n, ctypes.byref(field)))


def _entries(name: str, precision: Any) -> tuple[Any, Any, Any, int]:
    """The lower triangle of a symmetric matrix, row by row within columns."""
    if hasattr(precision, "tocoo"):
        matrix = precision.tocoo()
        if hasattr(matrix, "sum_duplicates"):
            matrix = matrix.copy()
            matrix.sum_duplicates()
        shape, rows, columns, values = matrix.shape, matrix.row, matrix.col, np.asarray(matrix.data, dtype=np.float64)
    else:
        dense = _numbers(f"field '{name}': the precision", precision)
        shape = dense.shape
        rows, columns = np.nonzero(dense) if dense.ndim == 2 else (np.empty(0), np.empty(0))
        values = dense[rows, columns] if dense.ndim == 2 else np.empty(0)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"field '{name}': a precision matrix must be square, not of shape {tuple(shape)}")
    if not np.isfinite(values).all():
        raise ValueError(f"field '{name}': an entry of the precision is not finite")
    order, other = np.lexsort((rows, columns)), np.lexsort((columns, rows))
    mirrored = (
        np.array_equal(rows[order], columns[other])
        and np.array_equal(columns[order], rows[other])
        and np.allclose(values[order], values[other], rtol=1e-12, atol=0)
    )
    if not mirrored:
        raise ValueError(f"field '{name}': the precision is not symmetric")
    rows, columns, values = rows[order], columns[order], values[order]
    lower = rows >= columns
    return (
        np.ascontiguousarray(rows[lower], dtype=np.uintp),
        np.ascontiguousarray(columns[lower], dtype=np.uintp),
        np.ascontiguousarray(values[lower]),
        int(shape[0]),
    )


def field(precision: Any, linear: Any = None, *, name: str = "x", threads: int = 0) -> Model:
    """The Gaussian Markov random field exp(b'x - x'Ax/2) of a scipy.sparse matrix A.

    >>> import numpy as np, svmp
    >>> m = svmp.field(np.array([[2.0, -1.0], [-1.0, 2.0]]), [3.0, 0.0])
    >>> mean, variance = m.exact_moments()
    >>> mean["x"].round(6).tolist()
    [2.0, 1.0]
    """
    made = Graph()
    made.field(name, precision, linear)
    return made.model(threads=threads)
