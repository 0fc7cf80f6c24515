"""Creates models from a text and data, or from files."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, NamedTuple

from ._context import Context
from ._data import Names, Part, add_parts, collect
from ._library import lib, structs

_MODEL_ENDINGS = (".bug", ".jags", ".txt", ".mtx")


class Reading(NamedTuple):
    """Options for reading a model text: the monitored nodes, "sigma,mu", and the coordinates of particles."""

    monitors: str = ""
    coordinates: str = ""


class Recipe:
    """Creates a model in a context: ``build`` returns the handle and the objects that must stay alive."""

    threads = 0  # OMP_NUM_THREADS, or all processors

    def build(self, context: Context, failures: list[BaseException], reading: Reading) -> tuple[ctypes.c_void_p, Any]:
        raise NotImplementedError


class TextRecipe(Recipe):
    def __init__(self, name: str, text: str, parts: list[Part]) -> None:
        self.name, self.text, self.parts = name, text, parts

    def with_data(self, data: Any) -> TextRecipe:
        return TextRecipe(self.name, self.text, collect(data, Names(self.text)))

    def build(self, context: Context, failures: list[BaseException], reading: Reading) -> tuple[ctypes.c_void_p, Any]:
        data = context.create(lib.svmp_data_create, context.handle)
        monitors = reading.monitors.encode() or None
        try:
            add_parts(context, data, self.parts)
            what = (context.handle, self.name.encode(), self.text.encode(), data)
            how = structs["svmp_reading"](monitors=monitors, coordinates=reading.coordinates.encode() or None)
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
        text = path.read_text()
        return TextRecipe(str(path), text, collect(data, Names(text)))
    if isinstance(source, str):
        return TextRecipe("<text>", source, collect(data, Names(source)))
    raise TypeError(f"expected a model text or a path, not {type(source).__name__}")
