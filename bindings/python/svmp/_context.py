"""A context of the library: errors become exceptions, messages go to ``logging``."""

from __future__ import annotations

import ctypes
import logging
from typing import Any

from ._library import callbacks, lib
from .errors import error_of

logger = logging.getLogger("svmp")  # without a handler of its own: Python writes warnings to the standard error

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING)


def _log(level: int, message: bytes, _: Any) -> None:
    logger.log(_LEVELS[level] if 0 <= level < len(_LEVELS) else logging.WARNING, "%s", message.decode(errors="replace"))


_log_function = callbacks["svmp_log_function"](_log)


def spell_option(option: str, value: str) -> str:
    """An option as users of Python write it.

    >>> spell_option("iterations", "8000"), spell_option("method", "nuts"), spell_option("init", "FILE"), spell_option("draws", "")
    ('iterations=8000', "method='nuts'", 'init=FILE', 'draws')
    """
    if option == "output":
        return f"fit.save({value})"
    name = option.replace("-", "_")
    if not value:
        return name
    plain = value.isupper() or value.replace(".", "", 1).isdigit()
    return f"{name}={value}" if plain else f"{name}={value!r}"


def _spell(option: bytes, value: bytes, _: Any, buffer: int, size: int) -> None:
    text = spell_option(option.decode(), value.decode()).encode()[: size - 1]
    ctypes.memmove(buffer, text + b"\0", len(text) + 1)


_speller = callbacks["svmp_speller"](_spell)


class Context:
    """Owns an ``svmp_context``. One thread at a time may use it.

    Objects of the context call ``retain`` and, after they are freed, ``release``: the cycle collector finalises objects
    in any order, and the context must be freed last.
    """

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        self._owners = [self.__class__]
        said: list[str] = []
        self._said = said
        status = lib.svmp_context_create(None, ctypes.byref(self.handle))
        if status:
            raise error_of(status, [])

        def record(_status: int, message: bytes, _: Any) -> None:  # several, if a model text has several errors
            said.append(message.decode(errors="replace"))

        self._record = callbacks["svmp_error_function"](record)
        lib.svmp_context_set_error(self.handle, self._record, None)
        lib.svmp_context_set_log(self.handle, _log_function, None)
        lib.svmp_context_set_speller(self.handle, _speller, None)

    def set_threads(self, threads: int) -> None:
        self.check(lib.svmp_context_set_threads(self.handle, threads))

    def check(self, status: int) -> None:
        """Raises the exception for the status of a call."""
        said, self._said[:] = list(self._said), []
        if status:
            raise error_of(status, said)

    def create(self, function: Any, *arguments: Any) -> ctypes.c_void_p:
        """Calls a function that returns an object through its last argument."""
        made = ctypes.c_void_p()
        self.check(function(*arguments, ctypes.byref(made)))
        return made

    def retain(self) -> None:
        self._owners.append(self.__class__)

    def release(self) -> None:
        self._owners.pop()
        if not self._owners and self.handle and lib is not None:
            lib.svmp_context_free(self.handle)
            self.handle = ctypes.c_void_p()

    def __del__(self) -> None:
        if hasattr(self, "_owners"):
            self.release()
