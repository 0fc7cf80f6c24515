"""The page of ``svmp report``."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._data import Text
from ._library import find_command
from ._recipe import FileRecipe, TextRecipe
from .errors import Error, UnsupportedError

if TYPE_CHECKING:
    from .fit import Fit


class Report:
    """A page of HTML. A notebook shows it; :meth:`save` writes it."""

    def __init__(self, text: str) -> None:
        self.html = text

    def save(self, path: Any) -> None:
        Path(path).write_text(self.html)

    def __repr__(self) -> str:
        return f"<svmp.Report: {len(self.html) / 1e6:.1f} MB of HTML>"

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:700px;border:1px solid #ddd"></iframe>'


def _dump(arrays: dict[str, Any]) -> str:
    """Data as R's dump(), which every build of the library reads; column-major there."""
    lines = []
    for name, values in arrays.items():
        flat = ", ".join("NA" if np.isnan(v) else repr(float(v)) for v in np.asarray(values).ravel(order="F"))
        if values.ndim == 0:
            lines.append(f'"{name}" <- {flat}')
        elif values.ndim == 1:
            lines.append(f'"{name}" <- c({flat})')
        else:
            shape = ", ".join(f"{extent}L" for extent in values.shape)
            lines.append(f'"{name}" <- structure(c({flat}), .Dim = c({shape}))')
    return "\n".join(lines) + "\n"


def _model_files(fit: "Fit", folder: str) -> list[str]:
    """Files from which the command can read the model; none for a graph that was built in Python."""
    recipe = None if fit.model is None else fit.model._recipe
    if isinstance(recipe, FileRecipe):
        return [os.path.abspath(path) for path in recipe.paths]
    if not isinstance(recipe, TextRecipe):
        return []
    name = os.path.basename(recipe.name) if recipe.name.endswith((".bug", ".jags")) else "model.bug"
    made = [os.path.join(folder, name)]
    Path(made[0]).write_text(recipe.text)
    for k, part in enumerate(recipe.parts):
        if isinstance(part, str):
            made.append(os.path.abspath(part))
        else:
            numbers = {
                name: recipe.replaced.get(name, values.codes(recipe.levels[name]) if isinstance(values, Text) else values)
                for name, values in part.items()
            }
            made.append(os.path.join(folder, f"data_{k}.R"))
            Path(made[-1]).write_text(_dump(numbers))
    return made


def make_report(fit: "Fit", path: Any = None) -> Report:
    command = find_command()
    if command is None:
        raise UnsupportedError("report() needs the command svmp, which is not in this installation")
    with tempfile.TemporaryDirectory() as folder:
        sample, page = os.path.join(folder, "fit.csv"), os.path.join(folder, "report.html")
        fit.save(sample)
        done = subprocess.run(
            [command, "report", sample, *_model_files(fit, folder), "-o", page], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Error(done.stderr.strip() or f"svmp report failed with status {done.returncode}")
        made = Report(Path(page).read_text())
    if path is not None:
        made.save(path)
    return made
