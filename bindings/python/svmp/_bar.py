"""Progress, on a terminal and in notebooks."""

from __future__ import annotations

import html
import sys
import time
from contextlib import suppress
from typing import Any, Optional

_WIDTH = 30


class _Shown:
    """The state of a bar as a notebook and a plain console show it."""

    def __init__(self, text: str, share: float) -> None:
        self.text, self.share = text, share

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<progress value="{self.share:.3f}" max="1"></progress> {html.escape(self.text)}'


def _notebook() -> Any:
    """IPython's ``display`` in a kernel of Jupyter; None elsewhere."""
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return None
    with suppress(ImportError, AttributeError):
        from IPython import get_ipython
        from IPython.display import display

        if hasattr(get_ipython(), "kernel"):
            return display
    return None


class Bar:
    """A line that is redrawn at most ten times a second: on the standard error, or in the output of a notebook cell."""

    def __init__(self, method: str, wanted: bool) -> None:
        self.method, self.started, self.drawn = method, time.monotonic(), 0.0
        self._display = _notebook() if wanted else None
        self._output: Any = None
        self.shown = self._display is not None or (bool(wanted) and sys.stderr.isatty())
        self._length = 0
        self._total: Optional[float] = None  # seconds of the whole run, as they are expected

    def due(self) -> bool:
        return self.shown and time.monotonic() - self.drawn >= 0.1

    def _write(self, share: float, text: str) -> None:
        if self._display is not None:
            state = _Shown(f"{self.method} {text}", share)
            if self._output is None:
                self._output = self._display(state, display_id=True)
            else:
                self._output.update(state)
            return
        filled = int(_WIDTH * share)
        line = f"\r{self.method} [{'#' * filled}{' ' * (_WIDTH - filled)}] {text}"
        sys.stderr.write(line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def draw(self, iteration: int, iterations: int) -> None:
        self.drawn = time.monotonic()
        share, elapsed = iteration / iterations if iterations else 1.0, self.drawn - self.started
        self._write(share, f"{100 * share:.0f} %, {iteration}/{iterations}, {elapsed:.1f} s{self.left(share, elapsed)}")

    def left(self, share: float, elapsed: float) -> str:
        """The time left at most, as runs may converge early: from a mean of all estimates so far, which does not jump.

        >>> bar = Bar("nuts", False)
        >>> bar.left(0.01, 0.1), bar.left(0.25, 10.0), bar.left(0.5, 20.0)
        ('', ', at most 30 s left', ', at most 20 s left')
        """
        if share < 0.05 or elapsed < 1:
            return ""
        total = elapsed / share
        self._total = total if self._total is None else 0.9 * self._total + 0.1 * total
        return f", at most {max(self._total - elapsed, 0):.0f} s left"

    def close(self, iteration: int, iterations: int, outcome: str) -> None:
        """Shows the last state; a run that converged early is complete, too."""
        if not self.shown:
            return
        share = 1.0 if outcome in ("completed", "converged") else iteration / iterations if iterations else 0.0
        self._write(share, f"{iteration}/{iterations}, {outcome}, {time.monotonic() - self.started:.1f} s")
        if self._display is None:
            sys.stderr.write("\n")
            sys.stderr.flush()
