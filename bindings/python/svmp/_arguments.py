"""Names of arguments of a model's methods, and their names in other packages."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._context import Context
from ._options import describe_method, gives_draws
from .errors import InputError

# PyMC, CmdStanPy, pyjags, BlackJAX, NumPyro and scikit-learn; the first name that the method accepts is suggested.
_ELSEWHERE: dict[str, tuple[str, ...]] = {
    "accept": ("target_accept",),
    "adapt": ("tune", "warmup"),
    "adapt_delta": ("target_accept", "accept"),
    "burn_in": ("tune", "warmup"),
    "initvals": ("init",),
    "inits": ("init",),
    "iter_sampling": ("draws",),
    "iter_warmup": ("tune", "warmup"),
    "max_iter": ("iterations",),
    "n_iter": ("iterations", "draws"),
    "num_samples": ("draws",),
    "num_steps": ("iterations", "draws"),
    "num_warmup": ("tune", "warmup"),
    "random_seed": ("seed",),
    "random_state": ("seed",),
    "rng": ("seed",),
    "rng_key": ("seed",),
    "show_progress": ("progressbar",),
    "target_accept": ("accept",),
    "tune": ("warmup",),
    "var_names": ("monitor",),
    "vars": ("monitor",),
    "warmup": ("tune",),
}
_OF_THE_MODEL = ("chain_method", "cores", "num_threads", "parallel_chains", "threads")


def arguments_of(method: Callable[..., Any]) -> list[str]:
    """The arguments of a method by name."""
    return [name for name in inspect.signature(method).parameters if name not in ("self", "unknown")]


def check_names(given: Iterable[str], known: list[str]) -> None:
    """Raises an exception for the first unknown name."""
    for name in given:
        if name in known:
            continue
        close = [other for other in _ELSEWHERE.get(name, ()) if other in known] or difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean '{close[0]}'?" if close else "."
        if name in _OF_THE_MODEL:
            hint = ": the number of threads is an argument of Model."
        raise TypeError(f"there is no argument '{name}'{hint} The arguments are {', '.join(known)}.")


def check_sizes(context: Context, method: str, given: Mapping[str, Any]) -> None:
    """Raises an exception for sizes that belong to other methods and would be ignored. The command refuses them, too."""
    kind, sweeps = describe_method(context, method)
    for name in (name for name, value in given.items() if value is not None):
        what = f"{'The default method' if method == 'auto' else f'The method {method!r}'} does not take {name}"
        if kind == "chains" and not sweeps and name in ("particles", "iterations"):
            raise InputError(f"{what}; use chains, warmup and draws.")
        if kind == "chains" and sweeps and name in ("chains", "accept"):
            raise InputError(f"{what}; use particles, iterations, warmup and draws.")
        if kind != "chains" and name in ("warmup", "draws", "chains", "accept") and not (name == "draws" and gives_draws(context, method)):
            raise InputError(f"{what}, which is for samplers: sample(), method='nuts'.")
        if kind == "draws" and name == "iterations":
            raise InputError(f"{what}: it does not iterate.")


def names_of(argument: str, given: Any) -> list[str]:
    """A name, or several, as a list."""
    if given is not None and not isinstance(given, Iterable):
        raise TypeError(f"{argument}: {given!r} is not a name or a list of names")
    names = [given] if isinstance(given, str) else list(given or ())
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument}: {name!r} is not a name")
    return names
