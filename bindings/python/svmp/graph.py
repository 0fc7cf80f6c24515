"""Graphs built in Python: nodes, Gaussian factors and functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from ._autodiff import wrap
from ._context import Context
from ._factors import Factor, Node, Quadratic
from ._library import constants, lib, structs
from ._recipe import Reading, Recipe
from ._sample import Array
from .fit import Fit
from .model import Model

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    Arguments = ParamSpec("Arguments")

Names = Union[str, Sequence[str]]


def _with_arguments_of(
    method: "Callable[Concatenate[Model, Arguments], Fit]",
) -> "Callable[[Callable[..., Fit]], Callable[Concatenate[Graph, Arguments], Fit]]":
    """For type checkers: the method of a graph has the arguments of that of a model."""
    return lambda function: function


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
        self._nodes: dict[str, Node] = {}
        self._order: list[tuple[str, Any]] = []
        self._fields: dict[str, int] = {}
        self._has_functions = False
        self._wrapped: dict[tuple[int, Optional[str]], tuple[Any, Callable[..., Any]]] = {}

    @property
    def threads(self) -> int:  # type: ignore[override]
        """Functions hold Python's global lock, so more threads would only wait."""
        return 1 if self._has_functions else 0

    # ---- building -------------------------------------------------------------------------------

    def node(self, name: str, dimension: int = 1, *, lower: Any = None, upper: Any = None, support: Optional[str] = None) -> None:
        """Adds a node. Every method runs on every support: particles move without bounds, functions get the values.

        Args:
            dimension: how many numbers the node has; of a correlation matrix, how many rows.
            lower, upper: bounds, a number or one for each.
            support: ``"positive"``; ``"ordered"``, ascending numbers; ``"simplex"``, positive numbers that sum to 1;
                ``"correlation"``, a correlation matrix.

        >>> import svmp
        >>> g = svmp.Graph()
        >>> g.node("rate", support="positive")
        >>> g.factor("rate", lambda rate: (2 * np.log(rate) - 3 * rate, 2 / rate - 3))      # Gamma(3, 3)
        >>> bool(abs(g.fit(progressbar=False)["rate"].mean() - 1) < 0.1)
        True
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f"node: {name!r} is not a name")
        if name in self._nodes or name in self._fields:
            raise ValueError(f"node '{name}': the graph already has a node of that name")
        if isinstance(dimension, bool) or not isinstance(dimension, (int, np.integer)) or dimension < 1:
            raise ValueError(f"node '{name}': the dimension must be a number of at least 1, not {dimension!r}")
        if support not in (None, "positive", "ordered", "simplex", "correlation"):
            raise ValueError(f"node '{name}': the support must be 'positive', 'ordered', 'simplex' or 'correlation', not {support!r}")
        if support is not None and (lower is not None or upper is not None):
            raise ValueError(f"node '{name}': give bounds or a support, not both")
        if support in ("simplex", "correlation") and dimension < 2:
            raise ValueError(f"node '{name}': a {support} has at least 2 {'numbers' if support == 'simplex' else 'rows'}")
        bounds: list[Optional[Array]] = []
        for label, bound in (("lower", 0.0 if support == "positive" else lower), ("upper", upper)):
            try:
                bounds.append(None if bound is None else np.broadcast_to(np.asarray(bound, dtype=np.float64), (dimension,)).copy())
            except (TypeError, ValueError):
                raise ValueError(f"node '{name}': {label} must be a number or {dimension} numbers") from None
        bounded = support == "positive" or lower is not None or upper is not None
        count = int(dimension)
        shape = (count, count) if support == "correlation" else () if count == 1 else (count,)
        self._nodes[name] = Node(shape, "bounded" if bounded else support or "real", bounds[0], bounds[1])
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

        >>> import numpy as np, svmp
        >>> g = svmp.Graph()
        >>> g.node("x", 2)
        >>> g.gaussian("x", precision=4.0, mean=[1.0, 2.0])
        >>> mean, variance = g.model().exact_moments()
        >>> mean["x"].tolist(), variance["x"].tolist()
        ([1.0, 2.0], [0.25, 0.25])
        """
        names = self._scope("gaussian", nodes)
        k = sum(self._nodes[name].size for name in names)
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
        if any(self._nodes[name].support != "real" for name in names):
            self.factor(names, Quadratic(a, b, [self._nodes[name].shape for name in names]))
        else:
            self._order.append(("gaussian", (names, np.ascontiguousarray(a), np.ascontiguousarray(b))))

    def field(self, name: str, precision: Any, linear: Any = None) -> None:
        """Adds a Gaussian field: a node for each row of a sparse precision matrix, and factors for its entries.

        Args:
            name: the nodes are called name.1, name.2, ... and are the array ``fit[name]``.
            precision: a ``scipy.sparse`` or dense matrix, symmetric.
            linear: b of exp(b'x - x'Ax/2).

        >>> import numpy as np, svmp
        >>> g = svmp.Graph()
        >>> g.field("x", np.array([[2.0, -1.0], [-1.0, 2.0]]), [3.0, 0.0])
        >>> mean, _ = g.model().exact_moments()
        >>> mean["x"].round(6).tolist()
        [2.0, 1.0]
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
            self._nodes[f"{name}.{k + 1}"] = Node((), "real")
        self._order.append(("field", (name, n, rows, columns, values, b)))

    def factor(self, nodes: Names, function: Callable[..., Any], *, autodiff: Optional[str] = None) -> None:
        """Adds a factor given by a function.

        Args:
            nodes: the nodes that it reads.
            function: called with one array for each node, for n particles at once: ``(n,)`` for a node of one variable, else
                ``(n, dimension)``. It returns the log values, ``(n,)``, and the gradients, one array for each node in its shape.
                -inf is a density of zero.
            autodiff: ``"jax"``: the function takes one particle, returns its log value, and is differentiated by JAX, which compiles
                it once, for all particles (``vmap``) and all factors that it is given for;
                ``"torch"``: it takes tensors of n particles, returns n log values, and is differentiated by PyTorch.

        >>> import numpy as np, svmp
        >>> g = svmp.Graph()
        >>> g.node("x")
        >>> g.factor("x", lambda x: (-0.5 * x**2, -x))
        >>> g.model().check_gradient()["error"] < 1e-6
        True
        """
        names = self._scope("factor", nodes)
        if not callable(function):
            raise TypeError(f"factor: {type(function).__name__} cannot be called")
        shapes = [self._nodes[name] for name in names]
        label = f"factor {getattr(function, '__name__', 'function')}({', '.join(names)})"
        self._has_functions = True
        key = (id(function), autodiff)
        if key not in self._wrapped:  # JAX compiles a function once for all of its factors
            self._wrapped[key] = (function, wrap(function, autodiff))
        self._order.append(("factor", (names, Factor(label, self._wrapped[key][1], shapes))))

    # ---- the model ------------------------------------------------------------------------------

    def model(self, *, threads: int = 0) -> Model:
        """The finished model.

        >>> import numpy as np, svmp
        >>> g = svmp.Graph()
        >>> g.node("x")
        >>> g.gaussian("x", 1.0)
        >>> g.model()
        <svmp.Model: 1 nodes, 1 factors; unknown: x>
        """
        if not self._nodes:
            raise ValueError("the graph has no nodes")
        return Model(self._copy(), threads=threads)

    @_with_arguments_of(Model.fit)
    def fit(self, *arguments: Any, **options: Any) -> Fit:
        """``model().fit(...)``

        >>> import svmp
        >>> g = svmp.Graph()
        >>> g.node("x")
        >>> g.gaussian("x", 4.0)
        >>> g.fit(progressbar=False)["x"].shape
        (4000,)
        """
        return self.model().fit(*arguments, **options)

    @_with_arguments_of(Model.sample)
    def sample(self, *arguments: Any, **options: Any) -> Fit:
        """``model().sample(...)``

        >>> import svmp
        >>> g = svmp.Graph()
        >>> g.node("x")
        >>> g.gaussian("x", 4.0)
        >>> g.sample(draws=100, chains=2, progressbar=False)["x"].shape
        (200,)
        """
        return self.model().sample(*arguments, **options)

    def _copy(self) -> "Graph":
        made = Graph()
        made._nodes, made._fields = dict(self._nodes), dict(self._fields)
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
                node = self._nodes[what]
                bounds = [None if bound is None else bound.ctypes.data for bound in (node.lower, node.upper)]
                support = constants[f"SVMP_SUPPORT_{node.support.upper()}"]
                if node.support == "real":
                    context.check(lib.svmp_model_add_node(handle, what.encode(), node.size, None, None, None))
                else:
                    context.check(lib.svmp_model_add_supported_node(handle, what.encode(), support, node.size, *bounds, None))
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
