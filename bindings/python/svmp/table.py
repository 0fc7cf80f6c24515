"""A small table of numbers, used without pandas."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Table:
    """Columns of numbers with a label for each row: ``table["mean"]``, ``table.index``, ``len(table)``."""

    def __init__(self, index: list[str], columns: dict[str, NDArray[np.float64]]) -> None:
        self.index = index
        self.columns = columns

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.index)

    def best(self) -> Any:
        """A DataFrame if pandas is installed, else the table."""
        try:
            import pandas
        except ImportError:
            return self
        return pandas.DataFrame(self.columns, index=self.index)

    def rows(self, most: int = 0) -> list[list[str]]:
        """Labels and numbers of the first rows as texts; 0: all rows."""
        count = min(len(self), most) if most else len(self)
        return [[self.index[k], *(f"{column[k]:.4g}" for column in self.columns.values())] for k in range(count)]

    def __repr__(self) -> str:
        rows = [["", *self.columns], *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows)

    def to_html(self, most: int = 0) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", *self.columns))
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows(most))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _repr_html_(self) -> str:
        return self.to_html()
