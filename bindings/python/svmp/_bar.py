"""Progress, on a terminal and in notebooks."""

from __future__ import annotations

import html
import sys
import time
from contextlib import suppress
from typing import Any

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
        self._write(iteration / iterations if iterations else 1.0, f"{iteration}/{iterations}, {self.drawn - self.started:.1f} s")

    def close(self, iteration: int, iterations: int, outcome: str) -> None:
        """Shows the last state; a run that converged early is complete, too."""
        if not self.shown:
            return
        share = 1.0 if outcome in ("completed", "converged") else iteration / iterations if iterations else 0.0
        self._write(share, f"{iteration}/{iterations}, {outcome}, {time.monotonic() - self.started:.1f} s")
        if self._display is None:
            sys.stderr.write("\n")
            sys.stderr.flush()
