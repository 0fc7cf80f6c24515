"""Exceptions. Each is an :class:`Error` and a matching built-in exception."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Optional

from ._library import constants, lib

if TYPE_CHECKING:
    from .fit import Fit


class Error(Exception):
    """An error of the library. ``status`` is the number of the status in svmp.h."""

    status: int = -1


class InputError(Error, ValueError):
    """An argument, an option, data or a file is not valid."""


class ModelError(InputError):
    """The model text is wrong. The message shows each line with a caret below the place.

    Attributes:
        line, column: the place of the first error, counted from 1; None if it has no place.
        messages: all errors.
    """

    def __init__(self, messages: list[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = messages
        place = re.search(r":(\d+):(\d+): ", messages[0]) if messages else None
        self.line: Optional[int] = int(place[1]) if place else None
        self.column: Optional[int] = int(place[2]) if place else None

    def __reduce__(self) -> Any:
        return type(self), (self.messages,)


class FileError(Error, OSError):
    """A file cannot be read or written."""


class UnsupportedError(Error, NotImplementedError):
    """The method, or this build of the library, cannot do it."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class NotFiniteError(Error, ArithmeticError):
    """The density, the score or a particle is not finite. ``fit`` has the last finite particles of a run, or is None."""

    fit: Optional["Fit"] = None


class CallbackError(Error, RuntimeError):
    """A factor's function failed without an exception."""


class DeviceError(Error, RuntimeError):
    """A GPU failed. The particles of the run are lost, except those of its checkpoint."""


_KINDS: dict[str, type[Error]] = {
    "SVMP_NO_MEMORY": OutOfMemoryError,
    "SVMP_BAD_CALL": InputError,
    "SVMP_BAD_INPUT": InputError,
    "SVMP_CANNOT_READ": FileError,
    "SVMP_CANNOT_WRITE": FileError,
    "SVMP_UNSUPPORTED": UnsupportedError,
    "SVMP_NOT_POSITIVE_DEFINITE": InputError,
    "SVMP_NOT_FINITE": NotFiniteError,
    "SVMP_CALLBACK_FAILED": CallbackError,
    "SVMP_DEVICE_FAILED": DeviceError,
}


def error_of(status: int, messages: list[str]) -> Error:
    """The exception for a status; a message with a place in a text is a :class:`ModelError`."""
    if not messages:
        messages = [lib.svmp_status_text(status).decode()]
    if re.match(r".*:\d+:\d+: ", messages[0]):
        made: Error = ModelError(messages)
    else:
        kind = next((kind for name, kind in _KINDS.items() if constants.get(name) == status), Error)
        made = kind("\n".join(messages))
    made.status = status
    return made
