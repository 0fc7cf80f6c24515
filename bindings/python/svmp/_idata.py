"""ArviZ: a DataTree with ArviZ 1, InferenceData before it."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ._axes import Axes
from ._library import version
from ._names import ArrayPlace

if TYPE_CHECKING:
    from .fit import Fit

# Stan's names of statistics, and ArviZ's; the same table is in src/sample/files/netcdf.c.
_STATISTICS: dict[str, tuple[str, Any]] = {
    "lp__": ("lp", float),
    "accept_stat__": ("acceptance_rate", float),
    "stepsize__": ("step_size", float),
    "treedepth__": ("tree_depth", int),
    "n_leapfrog__": ("n_steps", int),
    "divergent__": ("diverging", bool),
    "energy__": ("energy", float),
    "n_sweeps__": ("n_sweeps", int),
}


def groups_of(fit: "Fit") -> tuple[dict[str, dict[str, Any]], dict[str, list[str]], dict[str, Any]]:
    """Groups of arrays (chain, draw, *shape), the names of dimensions, and coordinates; as dictionaries."""
    chains, draws = fit.chains, fit.draws
    axes = Axes() if fit.model is None else fit.model._recipe.axes
    posterior: dict[str, Any] = {}
    dims: dict[str, list[str]] = {}
    coords: dict[str, Any] = {}
    for name, place in fit.arrays.items():
        posterior[name] = fit[name].reshape(chains, draws, *place.shape)
        dims[name] = list(place.dims) or [f"{name}_dim_{k}" for k in range(len(place.shape))]
        for k, dim in enumerate(dims[name]):
            marks = np.asarray(place.marks(k))
            if len(coords.setdefault(dim, marks)) != len(marks) or not np.array_equal(coords[dim], marks):
                dims[name][k] = f"{name}_dim_{k}"  # an array has more of them
                coords[dims[name][k]] = marks
    stats = {}
    for name, values in fit.statistics.items():
        label, kind = _STATISTICS.get(name, (name.rstrip("_"), float))
        if kind is not float and not (np.isfinite(values) & (values == np.rint(values))).all():
            kind = float
        stats[label] = values.reshape(chains, draws).astype(kind)
    groups: dict[str, dict[str, Any]] = {"posterior": posterior, "sample_stats": stats}
    for group, arrays in fit.extra_groups().items():
        groups[group] = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in arrays.items()}
        for name, values in arrays.items():
            dims[name], marks_of = axes.of(name, values.shape[1:])
            coords.update(marks_of)
    observed = {}
    for name, values in fit.observed.items():
        observed[name] = np.asarray(values)
        dims[name], marks_of = axes.of(name, np.shape(values))
        coords.update(marks_of)
    if observed:
        groups["observed_data"] = observed
    return groups, dims, coords


def _dataset(xarray: Any, arrays: dict[str, Any], dims: dict[str, list[str]], coords: dict[str, Any], sampled: bool, attrs: Any) -> Any:
    front = ["chain", "draw"] if sampled else []
    variables = {name: ([*front, *dims.get(name, [])], values) for name, values in arrays.items()}
    used = {dim for dimensions, _ in variables.values() for dim in dimensions}
    here = {dim: values for dim, values in coords.items() if dim in used}
    if sampled and arrays:
        chains, draws = next(iter(arrays.values())).shape[:2]
        here.update(chain=np.arange(chains), draw=np.arange(draws))
    return xarray.Dataset(variables, coords=here, attrs=attrs)


def _tree(groups: dict[str, dict[str, Any]], dims: dict[str, list[str]], coords: dict[str, Any], attrs: dict[str, Any]) -> Any:
    try:
        import xarray
    except ImportError:
        raise ImportError("idata needs xarray and ArviZ: pip install 'svmp[arviz]'") from None
    made = {
        group: _dataset(xarray, arrays, dims, coords, group != "observed_data", attrs if group == "posterior" else {})
        for group, arrays in groups.items()
        if arrays
    }
    arviz: Any = None
    with suppress(ImportError):
        arviz = import_module("arviz")
    if arviz is not None and int(arviz.__version__.split(".")[0]) < 1:
        return arviz.InferenceData(**made)
    if not hasattr(xarray, "DataTree"):
        raise ImportError("idata needs ArviZ, or xarray 2024.10 or later: pip install 'svmp[arviz]'")
    return xarray.DataTree.from_dict({f"/{group}": data for group, data in made.items()})


def to_idata(fit: "Fit") -> Any:
    groups, dims, coords = groups_of(fit)
    return _tree(
        groups, dims, coords, {"inference_library": "svmp", "inference_library_version": version, "sampling_time": fit.seconds, **fit.record}
    )


def tree_of(groups: dict[str, dict[str, Any]], chains: int, draws: int, places: dict[str, ArrayPlace]) -> Any:
    """Groups of arrays (draws, *shape)."""
    dims: dict[str, list[str]] = {}
    coords: dict[str, Any] = {}
    for arrays in groups.values():
        for name, values in arrays.items():
            place = places[name]
            dims[name] = list(place.dims) or [f"{name}_dim_{k}" for k in range(values.ndim - 1)]
            coords.update({dim: np.asarray(place.marks(k)) for k, dim in enumerate(dims[name])})
            arrays[name] = values.reshape(chains, draws, *values.shape[1:])
    return _tree(groups, dims, coords, {"inference_library": "svmp", "inference_library_version": version})
