"""Draws by name: what a fit and its predictions have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Union

import numpy as np

from ._names import ArrayPlace
from ._sample import Array, Sample, summarise
from .table import Table

VarNames = Union[None, str, Iterable[str]]


class Draws:
    """Draws of arrays: ``draws["mu"]`` is an array of shape ``(draws, *shape)``."""

    def __init__(self, sample: Sample, arrays: dict[str, ArrayPlace]) -> None:
        self.sample_data = sample
        self.arrays = arrays

    @property
    def names(self) -> list[str]:
        return self.sample_data.names

    @property
    def values(self) -> Array:
        return self.sample_data.values

    @property
    def chains(self) -> int:
        return self.sample_data.chains

    @property
    def draws(self) -> int:
        return self.sample_data.count // self.sample_data.chains

    def __getitem__(self, name: str) -> Array:
        """All draws of an array, ``(draws, *shape)``, or of an element, ``draws["a[1]"]``; known elements are filled in."""
        if name in self.arrays:
            return self.arrays[name].take(self.values)
        if name in self.names:
            return np.array(self.values[self.names.index(name)])
        element = re.fullmatch(r"([^\[]+)\[(.+)\]", name) if isinstance(name, str) else None
        if element is not None and element[1] in self.arrays:  # a[1,2] or u[York], as the summary calls it
            place = self.arrays[element[1]]
            at = place.index_of(element[2])
            if at is not None:
                return np.ascontiguousarray(place.take(self.values).reshape(len(self), -1)[:, at])
        raise self._no_such(name)

    def _no_such(self, name: Any) -> KeyError:
        return KeyError(f"'{name}': there are {', '.join(self.arrays)}")

    def __contains__(self, name: object) -> bool:
        return name in self.arrays or name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return self.sample_data.count

    def keys(self) -> Iterable[str]:
        return self.arrays.keys()

    def items(self) -> Iterator[tuple[str, Array]]:
        """Names and arrays; ``dict(draws)`` has them all."""
        return ((name, self[name]) for name in self.arrays)

    def _rows(self, var_names: VarNames) -> list[tuple[str, int]]:
        """Labels, x[1,2], and rows of values."""
        wanted = list(self.arrays) if var_names is None else [var_names] if isinstance(var_names, str) else list(var_names)
        made = []
        for name in wanted:
            if name not in self.arrays:
                raise self._no_such(name)
            place = self.arrays[name]
            labels = place.labels()
            made += [(labels[flat], int(row)) for row, flat in sorted(zip(place.rows, place.flat), key=lambda pair: pair[1])]
        return made

    def scalars_first(self) -> list[str]:
        """The arrays, single numbers first: effects would hide them."""
        return sorted(self.arrays, key=lambda name: self.arrays[name].shape != ())

    def summary(self, var_names: VarNames = None) -> Any:
        """Moments and, for chains, R-hat, effective draws and standard errors, scalars first: a DataFrame, or a :class:`Table`
        without pandas."""
        rows = self._rows(self.scalars_first() if var_names is None else var_names)
        moments, mixing = summarise(self.sample_data, np.array([row for _, row in rows], dtype=np.intp))
        columns: dict[str, Array] = {
            label: np.array([getattr(m, name) for m in moments])
            for label, name in (("mean", "mean"), ("sd", "sd"), ("5%", "q05"), ("50%", "q50"), ("95%", "q95"))
        }
        if self.sample_data.are_chains:
            columns["mcse_mean"] = np.array([m.error.mean for m in mixing])
            for name, label in (("r_hat", "r_hat"), ("bulk_draws", "ess_bulk"), ("tail_draws", "ess_tail")):
                columns[label] = np.array([getattr(m, name) for m in mixing])
        return Table([label for label, _ in rows], columns).best()

    def to_dataframe(self, var_names: VarNames = None) -> Any:
        """A DataFrame with one row for each draw; chains have the columns ``chain`` and ``draw``."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_dataframe needs pandas: pip install 'svmp[pandas]'") from None
        columns: dict[str, Any] = {}
        if self.sample_data.are_chains:
            columns["chain"] = np.repeat(np.arange(self.chains), self.draws)
            columns["draw"] = np.tile(np.arange(self.draws), self.chains)
        columns.update({label: self.values[row] for label, row in self._rows(var_names)})
        return pandas.DataFrame(columns)

    def plot(self, var_names: VarNames = None, kind: str = "auto") -> Any:
        """A picture with matplotlib; returns the figure.

        Args:
            var_names: the arrays; None: all.
            kind: ``"density"``, ``"forest"``, ``"trace"``, ``"pairs"``, ``"predictive"`` (observations over their replicates), or
                ``"auto"``: densities of a few values, intervals of many.
        """
        from ._plots import plot

        return plot(self, var_names, kind)
