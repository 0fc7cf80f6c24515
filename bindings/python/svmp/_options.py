"""Options of a run and methods, from the library's tables."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from ._context import Context
from ._library import interface, lib, structs

_YIELDS = {number: name[len("SVMP_YIELD_") :].lower() for name, number in interface.enums["svmp_yield"].items()}


def option_names() -> list[str]:
    """The options of a run, as the library lists them."""
    option, names, which = structs["svmp_option"](), [], 0
    while lib.svmp_option_at(which, ctypes.byref(option)):
        names.append(option.name.decode())
        which += 1
    return names


def _text(name: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"option '{name}': expected a number or a text, not {value!r}")
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, str):
        return value
    raise TypeError(f"option '{name}': expected a number or a text, not {type(value).__name__}")


def make_options(context: Context, given: Mapping[str, Any]) -> ctypes.c_void_p:
    known = option_names()
    handle = context.create(lib.svmp_options_create, context.handle)
    try:
        for key, value in given.items():
            name = key.replace("_", "-")
            if name not in known:
                raise TypeError(f"there is no option '{key}'; the options are {', '.join(known)}")
            if value is not None:
                context.check(lib.svmp_options_set(handle, name.encode(), _text(key, value).encode()))
    except BaseException:
        lib.svmp_options_free(handle)
        raise
    return handle


def describe_method(context: Context, name: str) -> tuple[str, bool]:
    """What a method's particles mean, and whether each particle is a chain."""
    method = structs["svmp_method"]()
    context.check(lib.svmp_method_describe(context.handle, name.encode(), ctypes.byref(method)))
    return _YIELDS.get(getattr(method, "yield"), "unknown"), bool(method.sweeps)


def gives_draws(context: Context, name: str) -> bool:
    """Whether a method takes the option draws."""
    method = structs["svmp_method"]()
    context.check(lib.svmp_method_describe(context.handle, name.encode(), ctypes.byref(method)))
    return int(method.draws) > 0


def method_coordinates(method: Optional[str]) -> str:
    """The coordinates that suit a method, or the default one; "" if it does not matter."""
    context = Context()
    options = make_options(context, {"method": method})
    try:
        name = lib.svmp_options_get(options, b"method")
    finally:
        lib.svmp_options_free(options)
    described = structs["svmp_method"]()
    if lib.svmp_method_describe(context.handle, name, ctypes.byref(described)):
        return ""  # the run will say that there is no such method
    text: Optional[bytes] = described.coordinates
    return "" if text is None else text.decode()
