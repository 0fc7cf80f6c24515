"""Creates models from a text and data, or from files."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ._context import Context
from ._axes import Axes
from ._data import Names, Part, add_missing, add_parts, collect, levels_of, set_levels
from ._library import lib, structs
from ._sample import Array, Particles, Sample
from .errors import ModelError

_MODEL_ENDINGS = (".bug", ".jags", ".txt", ".mtx")


class Reading(NamedTuple):
    """How a model text is read: the monitored nodes, "sigma,mu"; the coordinates of particles; statements that are added;
    the draws of unknowns that are given; whether observed values are drawn, too; whether the data are not those of the draws."""

    monitors: str = ""
    coordinates: str = ""
    statements: str = ""
    given: Optional[Sample] = None
    simulated: bool = False
    fresh: bool = False


class Recipe:
    """Creates a model in a context: ``build`` returns the handle and the objects that must stay alive."""

    threads = 0  # OMP_NUM_THREADS, or all processors
    axes = Axes()

    def build(self, context: Context, failures: list[BaseException], reading: Reading) -> tuple[ctypes.c_void_p, Any]:
        raise NotImplementedError


class TextRecipe(Recipe):
    """``replaced`` are other values of some arrays, and ``levels`` those of text, by name, which :meth:`build` completes."""

    def __init__(
        self,
        name: str,
        text: str,
        parts: list[Part],
        replaced: Optional[dict[str, Array]] = None,
        levels: Optional[dict[str, list[str]]] = None,
    ) -> None:
        self.name, self.text, self.parts, self.replaced, self.levels = name, text, parts, replaced or {}, levels or {}
        self.matrices: dict[str, list[str]] = {}  # made of columns of tables

    def with_data(self, data: Any, missing: Iterable[str] = ()) -> TextRecipe:
        """The same text with other data; text among them has the codes of the old ones. Of `missing`, vectors that the new data
        lack are all missing values, if their length can be told from other columns."""
        matrices = dict(self.matrices)
        parts = collect(data, Names(self.text), matrices)
        add_missing(self.parts, parts, missing)
        return self._copy(TextRecipe(self.name, self.text, parts, levels=dict(self.levels)), matrices)

    def with_values(self, values: dict[str, Array]) -> TextRecipe:
        """The same with other values of some arrays."""
        return self._copy(TextRecipe(self.name, self.text, self.parts, {**self.replaced, **values}, self.levels), self.matrices)

    def _copy(self, made: TextRecipe, matrices: dict[str, list[str]]) -> TextRecipe:
        made.axes, made.matrices = self.axes, matrices
        return made

    def build(self, context: Context, failures: list[BaseException], reading: Reading) -> tuple[ctypes.c_void_p, Any]:
        if "\0" in self.text:
            raise ModelError(f"The model text has a NUL character in line {self.text[: self.text.index(chr(0))].count(chr(10)) + 1}; remove it.")
        data = context.create(lib.svmp_data_create, context.handle)
        given = Particles(context, reading.given) if reading.given is not None else None
        try:
            for name, levels in self.levels.items():
                set_levels(context, data, name, levels)
            add_parts(context, data, self.parts)
            self.levels = levels_of(data, Names(self.text).variables)
            for name, values in self.replaced.items():
                context.check(lib.svmp_data_replace(data, name.encode(), values.size, values.ctypes.data))
            what = (context.handle, self.name.encode(), self.text.encode(), data)
            how = structs["svmp_reading"](
                monitors=reading.monitors.encode() or None,
                coordinates=reading.coordinates.encode() or None,
                statements=reading.statements.encode() or None,
                given=given.handle if given is not None else None,
                simulated=reading.simulated,
                fresh=reading.fresh,
            )
            handle = context.create(lib.svmp_model_read_text, *what, ctypes.byref(how))
        finally:
            lib.svmp_data_free(data)
        return handle, None


class FileRecipe(Recipe):
    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    def build(self, context: Context, failures: list[BaseException], reading: Reading) -> tuple[ctypes.c_void_p, Any]:
        paths = (ctypes.c_char_p * len(self.paths))(*map(os.fsencode, self.paths))
        return context.create(lib.svmp_model_read, context.handle, len(self.paths), paths, None), None


def _text_recipe(name: str, text: str, data: Any) -> TextRecipe:
    matrices: dict[str, list[str]] = {}
    made = TextRecipe(name, text, collect(data, Names(text), matrices))
    made.matrices = matrices
    return made


def read_source(source: Any, data: Any) -> Recipe:
    if isinstance(source, str) and not source.strip():
        raise ValueError("the model text is empty")
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "{" not in source):
        path = Path(source)
        if path.suffix not in _MODEL_ENDINGS:
            raise ValueError(f"'{path}' is neither a model text nor a file that ends in {', '.join(_MODEL_ENDINGS)}")
        if not path.is_file():
            raise FileNotFoundError(f"there is no model file '{path}'")
        if path.suffix == ".mtx":
            others = [data] if isinstance(data, (str, os.PathLike)) else list(data or [])
            return FileRecipe([str(path), *(os.fspath(other) for other in others)])
        return _text_recipe(str(path), path.read_text(), data)
    if isinstance(source, str):
        return _text_recipe("<text>", source, data)
    raise TypeError(f"expected a model text or a path, not {type(source).__name__}")
