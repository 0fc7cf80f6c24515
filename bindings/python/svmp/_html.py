"""HTML of a model and a fit for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from .table import Table

if TYPE_CHECKING:
    from .fit import Fit
    from .model import Model

_ROWS = 20


def _shape(shape: Any) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else ""


def model(m: "Model") -> str:
    unknown = ", ".join(f"<b>{html.escape(name)}</b>{_shape(shape)}" for name, shape in m.unknown.items())
    observed = ", ".join(f"<b>{html.escape(name)}</b>{_shape(values.shape)}" for name, values in m.observed.items())
    lines = [f"<p>svmp model: {m.nodes} nodes, {m.factors} factors, {m.dimension} variables</p>", f"<p>unknown: {unknown}</p>"]
    if observed:
        lines.append(f"<p>observed: {observed}</p>")
    if m.text:
        lines.append(f"<details><summary>model text</summary><pre>{html.escape(m.text)}</pre></details>")
    return "".join(lines)


def fit(f: "Fit") -> str:
    table = f.summary()
    body = table.to_html(_ROWS) if isinstance(table, Table) else table.head(_ROWS).to_html(float_format="{:.4g}".format)
    more = f"<p>and {len(table) - _ROWS} more</p>" if len(table) > _ROWS else ""
    return (
        f"<p>svmp fit: {html.escape(f.method)}, {f._count}, {f.iterations} iterations in {f.seconds:.2f} s, {html.escape(f.outcome)}</p>"
        f"{f.verdict._repr_html_()}{body}{more}"
    )
