"""Reads the C headers of svmp and creates ctypes declarations: constants, structs, callbacks and functions.

No declaration of the interface is repeated in Python. The headers in the package are those that its library was built
from, and the test ``test_binding.py`` compares these layouts with those of a C compiler (tests/abi/svmp.abi).
"""

from __future__ import annotations

import ctypes
import re
from typing import Any, Optional

_SCALARS: dict[str, Any] = {
    "void": None,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}


class HeaderError(Exception):
    """A declaration that this reader does not understand."""


def _plain(text: str) -> str:
    """The text without comments, with lines joined that end in a backslash."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return text.replace("\\\n", " ")


class Interface:
    """What the headers declare.

    ``constants`` maps names to numbers, ``structs`` to ``ctypes.Structure`` classes, ``callbacks`` to function types and
    ``functions`` to pairs of result type and argument types.
    """

    def __init__(self, texts: list[str]) -> None:
        self.constants: dict[str, int] = {}
        self._sizes: dict[str, int] = {}  # sizes of arrays: enum { SVMP_DRIFTS = 10 }
        self.enums: dict[str, dict[str, int]] = {}
        self.structs: dict[str, Any] = {}
        self.callbacks: dict[str, Any] = {}
        self.functions: dict[str, tuple[Any, list[Any]]] = {}
        for text in texts:
            self._read(_plain(text))

    # ---- types ----------------------------------------------------------------------------------

    def _type(self, words: str, stars: int, field: bool = False) -> Any:
        """The ctypes type of a declaration: pointers are addresses, except texts and, in structs, numbers."""
        name = " ".join(w for w in words.split() if w not in ("const", "struct"))
        if stars == 0:
            if name in self.enums:
                return ctypes.c_int
            if name in self.structs:
                return self.structs[name]
            if name in self.callbacks:
                return self.callbacks[name]
            if name in _SCALARS:
                return _SCALARS[name]
            raise HeaderError(f"unknown type '{name}'")
        if name == "char" and stars == 1:
            return ctypes.c_char_p if "const" in words.split() else ctypes.c_void_p  # a text, or a buffer for one
        if field and stars == 1 and _SCALARS.get(name) is not None:
            return ctypes.POINTER(_SCALARS[name])
        return ctypes.c_void_p

    def _declaration(self, text: str, field: bool = False) -> tuple[str, Any]:
        """The name and the type of ``const double *x`` or ``size_t n``; a name may be missing."""
        match = re.fullmatch(r"\s*((?:[A-Za-z_]\w*\s+|\bconst\b\s*)*?)([A-Za-z_]\w*)?((?:\s*\*\s*(?:const\b)?)*)\s*([A-Za-z_]\w*)?\s*", text)
        if match is None:
            raise HeaderError(f"cannot read the declaration '{text.strip()}'")
        before, last, pointers, name = match.groups()
        stars = pointers.count("*")
        words = f"{before} {last or ''}"
        if stars == 0 and name is None:  # in "size_t n", n is in `last`; a single word is a type
            if before.strip() and last:
                words, name = before, last
        return name or "", self._type(words, stars, field)

    def _arguments(self, text: str) -> list[Any]:
        if text.strip() in ("", "void"):
            return []
        return [self._declaration(argument)[1] for argument in text.split(",")]

    # ---- declarations ---------------------------------------------------------------------------

    def _read(self, text: str) -> None:
        lists = {  # X-macros: NAME_LIST(X) X(OK, 0, "success") ...
            name: re.findall(r"X\(\s*(\w+)\s*,\s*(-?\d+)", rows)
            for name, rows in re.findall(r"^#define\s+(\w+_LIST)\(X\)(.*)$", text, flags=re.M)
        }
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        pattern = re.compile(
            r"typedef\s+enum\s+(?P<enum>\w+)\s*\{(?P<items>[^}]*)\}\s*\w+\s*;"
            r"|enum\s*\{(?P<numbers>[^}]*)\}\s*;"
            r"|typedef\s+struct\s+(?P<struct>\w+)\s*\{(?P<fields>[^}]*)\}\s*\w+\s*;"
            r"|typedef\s+struct\s+(?P<opaque>\w+)\s+\w+\s*;"
            r"|typedef\s+(?P<result>[\w\s\*]+?)\(\s*\*\s*(?P<callback>\w+)\s*\)\s*\((?P<parameters>[^)]*)\)\s*;"
            r"|SVMP_API\s+(?P<returns>[\w\s\*]+?)\b(?P<function>svmp_\w+)\s*\((?P<arguments>[^)]*)\)\s*;"
        )
        for match in pattern.finditer(text):
            kind = match.lastgroup
            if kind == "items":
                self._enum(match["enum"], match["items"], lists)
            elif kind == "numbers":
                self._enum("", match["numbers"], {})
            elif kind == "fields":
                self._struct(match["struct"], match["fields"])
            elif kind == "parameters":
                result = self._declaration(match["result"])[1]
                self.callbacks[match["callback"]] = ctypes.CFUNCTYPE(result, *self._arguments(match["parameters"]))
            elif kind == "arguments":
                self.functions[match["function"]] = (self._declaration(match["returns"])[1], self._arguments(match["arguments"]))

    def _enum(self, name: str, items: str, lists: dict[str, list[tuple[str, str]]]) -> None:
        values: dict[str, int] = {}
        for macro, rows in lists.items():
            if macro + "(" in items.replace(" ", ""):
                values.update({f"SVMP_{row}": int(number) for row, number in rows})
        following = 0
        for item, number in re.findall(r"(SVMP_\w+)\s*(?:=\s*(-?\d+))?\s*(?:,|$)", re.sub(r"\w+_LIST\s*\(\w+\)", "", items)):
            following = int(number) if number else following
            values[item] = following
            following += 1
        if name:
            self.enums[name] = values
            self.constants.update(values)
        self._sizes.update({key: value for key, value in values.items() if not name})

    def _struct(self, name: str, fields: str) -> None:
        made: list[tuple[str, Any]] = []
        for line in filter(str.strip, fields.split(";")):
            function = re.fullmatch(r"\s*([\w\s\*]+?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)\s*", line, flags=re.S)
            if function:
                result, field, arguments = function.groups()
                made.append((field, ctypes.CFUNCTYPE(self._declaration(result)[1], *self._arguments(arguments))))
                continue
            first, *others = line.split(",")
            base = re.sub(r"[\*\s]*\w+\s*(\[\w+\])?\s*$", "", first)  # the words before the first name
            made += [self._field(text) for text in (first, *(f"{base} {other}" for other in others))]
        self.structs[name] = type(name, (ctypes.Structure,), {"_fields_": made})

    def _field(self, text: str) -> tuple[str, Any]:
        """One field; ``char name[128]`` is an array."""
        array = re.fullmatch(r"(.*?)\[\s*(\w+)\s*\]\s*", text, flags=re.S)
        if array is None:
            return self._declaration(text, field=True)
        name, ctype = self._declaration(array[1], field=True)
        size = int(array[2]) if array[2].isdigit() else self._sizes.get(array[2], self.constants.get(array[2], 0))
        return name, ctype * size

    # ---- binding --------------------------------------------------------------------------------

    def bind(self, library: ctypes.CDLL, missing: Optional[list[str]] = None) -> None:
        """Sets result and argument types of every function; those that the library lacks go to ``missing``."""
        for name, (result, arguments) in self.functions.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                if missing is None:
                    raise
                missing.append(name)
                continue
            function.restype = result
            function.argtypes = arguments
