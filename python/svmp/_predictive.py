"""Replicates of the data: each statement of an observed array is written once more, for an array that is not observed.

Nothing observed depends on the copy, so the library draws it for each particle after the run, and the run is not changed by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

SUFFIX = ".rep"
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def _mask(text: str) -> str:
    """The text with blanks for comments."""
    return re.sub(r"/\*.*?\*/|#[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)


def _close(text: str, at: int) -> Optional[int]:
    """The place behind the bracket that closes the one at ``at``."""
    expected: list[str] = []
    for k in range(at, len(text)):
        if text[k] in _PAIRS:
            expected.append(_PAIRS[text[k]])
        elif expected and text[k] == expected[-1]:
            expected.pop()
            if not expected:
                return k + 1
    return None


def _data_block(masked: str) -> tuple[int, int]:
    found = re.search(r"(?<![\w.])data\s*\{", masked)
    end = _close(masked, found.end() - 1) if found else None
    return (found.start(), end) if found and end else (0, 0)


def _statement(masked: str, at: int) -> Optional[tuple[str, int]]:
    """The subscripts, with their brackets, and the end of ``[i] ~ dnorm(mu, tau) T(0,)``, which begins at ``at``."""
    subscripts, k = "", at
    blank = re.compile(r"\s*")

    def skip(place: int) -> int:
        found = blank.match(masked, place)
        return found.end() if found else place

    k = skip(k)
    if masked[k : k + 1] == "[":
        end = _close(masked, k)
        if end is None:
            return None
        subscripts, k = masked[k:end], skip(end)
    distribution = re.compile(r"~\s*[A-Za-z][\w.]*\s*(?=\()").match(masked, k)
    end = _close(masked, distribution.end()) if distribution else None
    if end is None:
        return None
    bounds = re.compile(r"\s*[TIC]\s*(?=\()").match(masked, end)
    return subscripts, (_close(masked, bounds.end()) or end) if bounds else end


def with_replicates(text: str, names: Iterable[str]) -> str:
    """The model text with ``y.rep[i] ~ ...`` behind each ``y[i] ~ ...``.

    >>> with_replicates("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", ["y"])
    'model { y ~ dnorm(mu, 1); y.rep ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }'
    """
    masked = _mask(text)
    first, last = _data_block(masked)
    additions: list[tuple[int, str]] = []
    for name in names:
        for found in re.finditer(rf"(?<![\w.]){re.escape(name)}(?![\w.])", masked):
            statement = _statement(masked, found.end())
            if statement is None or first <= found.start() < last:
                continue
            subscripts, end = statement
            right = masked[masked.index("~", found.end() + len(subscripts)) : end]
            additions.append((end, f"; {name}{SUFFIX}{subscripts} {right}"))
    for place, addition in sorted(additions, reverse=True):
        text = text[:place] + addition + text[place:]
    return text
