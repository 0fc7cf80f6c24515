"""Pictures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._draws import VarNames

if TYPE_CHECKING:
    from .calibration import Calibration
    from .fit import Fit

_FOREST = 12  # values from which intervals are drawn instead of densities
_MOST = 60  # intervals in a picture
_BLUE, _GREY = "#2a6f97", "#888888"


def pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError("plot needs matplotlib: pip install matplotlib") from None
    return matplotlib.pyplot


def _density(values: Any) -> tuple[Any, Any]:
    """A kernel density estimate with Silverman's bandwidth."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread = min(values.std(), (high - low) / 1.349) or values.std() or 1.0
    width = 0.9 * spread * len(values) ** -0.2
    at = np.linspace(values.min() - 3 * width, values.max() + 3 * width, 200)
    return at, np.exp(-0.5 * ((at[:, None] - values) / width) ** 2).mean(axis=1) / (width * np.sqrt(2 * np.pi))


def _draw_one(axes: Any, label: str, values: Any) -> None:
    axes.set_title(label, fontsize=10)
    axes.set_yticks([])
    finite = values[np.isfinite(values)]
    whole = finite.size > 0 and np.array_equal(finite, np.rint(finite)) and len(np.unique(finite)) <= 30
    if finite.size == 0:
        axes.text(0.5, 0.5, "not finite", transform=axes.transAxes, ha="center")
    elif whole:
        at, counts = np.unique(finite, return_counts=True)
        axes.bar(at, counts / finite.size, color=_BLUE, width=0.8)
        axes.set_yticks([0, 1])
    else:
        at, height = _density(finite)
        axes.fill_between(at, height, color=_BLUE, alpha=0.25, linewidth=0)
        axes.plot(at, height, color=_BLUE)
    if finite.size:
        for q in np.quantile(finite, [0.05, 0.5, 0.95]):
            axes.axvline(q, color=_GREY, linewidth=0.8)


def densities(labels: list[str], rows: list[Any]) -> Any:
    plt = pyplot()
    columns = min(len(rows), 4)
    lines = -(-len(rows) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(3 * columns, 2.2 * lines), squeeze=False, layout="constrained")
    for axes, label, values in zip(grid.flat, labels, rows):
        _draw_one(axes, label, values)
    for axes in list(grid.flat)[len(rows) :]:
        axes.set_visible(False)
    return figure


def forest(labels: list[str], rows: list[Any]) -> Any:
    """Medians with 50 % and 90 % intervals."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 0.25 * len(rows) + 1), layout="constrained")
    for k, values in enumerate(rows):
        q = np.nanquantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
        axes.plot([q[0], q[4]], [k, k], color=_BLUE, linewidth=1)
        axes.plot([q[1], q[3]], [k, k], color=_BLUE, linewidth=3)
        axes.plot([q[2]], [k], "o", color=_BLUE, markersize=4)
    axes.set_yticks(range(len(rows)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("median, 50 % and 90 % intervals")
    return figure


def traces(fit: "Fit", labels: list[str], rows: list[Any]) -> Any:
    plt = pyplot()
    figure, grid = plt.subplots(len(rows), 2, figsize=(9, 1.9 * len(rows)), squeeze=False, layout="constrained", width_ratios=[1, 2])
    for (left, right), label, values in zip(grid, labels, rows):
        _draw_one(left, label, values)
        for chain in values.reshape(fit.chains, -1):
            right.plot(chain, linewidth=0.6)
    grid[-1][1].set_xlabel("draw")
    return figure


def pairs(labels: list[str], rows: list[Any]) -> Any:
    plt = pyplot()
    count = len(rows)
    figure, grid = plt.subplots(count, count, figsize=(2 * count, 2 * count), squeeze=False, layout="constrained")
    for i in range(count):
        for j in range(count):
            axes = grid[i][j]
            if i == j:
                _draw_one(axes, labels[i], rows[i])
            elif i > j:
                axes.plot(rows[j], rows[i], ".", color=_BLUE, markersize=2, alpha=0.5)
            else:
                axes.set_visible(False)
            if i == count - 1 and j < i:
                axes.set_xlabel(labels[j], fontsize=8)
            if j == 0 and i > 0:
                axes.set_ylabel(labels[i], fontsize=8)
    return figure


def predictive(fit: "Fit") -> Any:
    """Observed values over the 50 % and 90 % intervals of their replicates, in the order of the data."""
    plt = pyplot()
    made = fit.posterior_predictive() if hasattr(fit, "posterior_predictive") else None
    if not made:
        raise ValueError("plot: the fit has no model with observed values, which are compared with replicates")
    figure, grid = plt.subplots(len(made), 1, figsize=(8, 2.6 * len(made)), squeeze=False, layout="constrained")
    for axes, (name, values) in zip(grid[:, 0], made.items()):
        observed = np.asarray(fit.observed[name], dtype=float).ravel()
        q = np.nanquantile(values.reshape(len(values), -1), [0.05, 0.25, 0.75, 0.95], axis=0)
        at = np.arange(1, observed.size + 1)
        axes.vlines(at, q[0], q[3], color=_BLUE, alpha=0.35, linewidth=1)
        axes.vlines(at, q[1], q[2], color=_BLUE, alpha=0.5, linewidth=3)
        axes.plot(at, observed, ".", color="black", markersize=4)
        inside = np.mean((observed >= q[0]) & (observed <= q[3]))
        axes.set_title(f"{name}: {100 * inside:.0f} % of the observations lie within the 90 % intervals of replicates", fontsize=9)
    return figure


def plot(fit: Any, var_names: VarNames, kind: str) -> Any:
    """`kind` "auto": densities of a few values, intervals of many."""
    kinds = ("auto", "density", "forest", "trace", "pairs", "predictive")
    if kind not in kinds:
        raise ValueError(f"kind: expected one of {', '.join(kinds)}, not {kind!r}")
    if kind == "predictive":
        return predictive(fit)
    chosen = fit._rows(fit.scalars_first() if var_names is None else var_names)
    if kind == "auto":
        kind = "forest" if len(chosen) > _FOREST else "density"
    most = {"density": 24, "trace": 12, "pairs": 6}.get(kind, _MOST)
    labels, rows = [label for label, _ in chosen[:most]], [fit.values[row] for _, row in chosen[:most]]
    figure = {"density": densities, "forest": forest, "pairs": pairs}[kind](labels, rows) if kind != "trace" else traces(fit, labels, rows)
    if len(chosen) > most:
        figure.suptitle(f"the first {most} of {len(chosen)} values", fontsize=9)
    return figure


def rank_histograms(made: "Calibration", var_names: VarNames, bins: int) -> Any:
    plt = pyplot()
    wanted = list(made.names) if var_names is None else [var_names] if isinstance(var_names, str) else list(var_names)
    for name in wanted:
        if name not in made.names:
            raise KeyError(f"'{name}': there are {', '.join(made.names)}")
    wanted = wanted[:24]
    columns = min(len(wanted), 4)
    lines = -(-len(wanted) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(3 * columns, 2.2 * lines), squeeze=False, layout="constrained")
    count = len(made.ranks)
    bins = max(1, min(bins, made.draws + 1, count // 4))
    share = 1 / bins
    spread = 2.576 * np.sqrt(count * share * (1 - share))
    for axes, name in zip(grid.flat, wanted):
        axes.axhspan(count * share - spread, count * share + spread, color=_GREY, alpha=0.25, linewidth=0)
        axes.hist(made.ranks[:, made.names.index(name)], bins=np.linspace(-0.5, made.draws + 0.5, bins + 1), color=_BLUE)
        axes.set_title(name, fontsize=10)
    for axes in list(grid.flat)[len(wanted) :]:
        axes.set_visible(False)
    return figure
