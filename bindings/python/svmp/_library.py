"""Finds libsvmp, its headers and the command, and binds the functions."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from ._header import Interface

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]  # used if the package runs from the source tree
_HEADERS = ("svmp_notes.h", "svmp.h", "svmp_tools.h", "svmp_parallel.h")
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


def _in_source_tree() -> bool:
    return (_ROOT / "include" / "svmp.h").is_file() and (_ROOT / "VERSION").is_file()


def _include() -> Path:
    for folder in (os.environ.get("SVMP_INCLUDE"), _HERE / "include", _ROOT / "include"):
        if folder and (Path(folder) / "svmp.h").is_file():
            return Path(folder)
    raise ImportError(f"svmp.h is neither in {_HERE / 'include'} nor in SVMP_INCLUDE: the package is incomplete")


def _library() -> str:
    given = os.environ.get("SVMP_LIBRARY")
    if given:
        return given
    for folder in (_HERE / "lib", *((_ROOT / "build" / "release",) if _in_source_tree() else ())):
        for path in sorted(folder.glob(f"libsvmp{_SUFFIX}*")):
            return str(path)
    raise ImportError(
        f"libsvmp{_SUFFIX} is not in {_HERE / 'lib'}. Install the package with 'pip install .', or set SVMP_LIBRARY to its path."
    )


def find_command() -> Optional[str]:
    """The path of the command ``svmp`` that belongs to the library; None if it is missing."""
    places = [os.environ.get("SVMP_COMMAND"), _HERE / "bin" / "svmp"]
    if _in_source_tree():
        places.append(_ROOT / "build" / "release" / "svmp")
    for place in places:
        if place and os.access(place, os.X_OK):
            return str(place)
    return None


def read_interface(headers: Sequence[str] = _HEADERS) -> Interface:
    folder = _include()
    return Interface([(folder / header).read_text() for header in headers if (folder / header).is_file()])


def load_library(path: str) -> Any:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded: {error}. It was built where the shared libraries that it needs are installed: install the one "
            "that is missing, or build the package on this machine, with 'pip install .' in the sources."
        ) from None


def load_beside(name: str) -> tuple[Any, Interface]:
    """Another library of svmp, in the folder of libsvmp, and the declarations of its header."""
    beside = Path(path)
    library = load_library(str(beside.with_name(beside.name.replace("libsvmp", f"libsvmp_{name}", 1))))
    declared = read_interface(("svmp_notes.h", "svmp.h", f"svmp_{name}.h"))
    declared.bind(library, [])
    return library, declared


interface = read_interface()
path = _library()
lib: Any = load_library(path)
interface.bind(lib)
constants = interface.constants
structs = interface.structs
callbacks = interface.callbacks

version: str = lib.svmp_version().decode()
