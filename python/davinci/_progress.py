"""What the program says while it works, in a terminal or a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any

_REPAINT_SECONDS = 0.2
_LINES = 12


def _notebook_display() -> Any:
    """IPython's display function in a notebook; None elsewhere."""
    shell = sys.modules.get("IPython")
    try:
        if shell is None or type(shell.get_ipython()).__name__ != "ZMQInteractiveShell":
            return None
        from IPython.display import display  # type: ignore[import-not-found]

        return display
    except Exception:  # another IPython
        return None


class Progress:
    """Call it with each line. In a notebook the last lines are shown in one place that goes when the work is done."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._shown = 0.0
        self._display = _notebook_display()
        self._handle: Any = None

    def __call__(self, line: str) -> None:
        if self._display is None:
            print(line, file=sys.stderr, flush=True)
            return
        self._lines = [*self._lines, line][-_LINES:]
        if time.monotonic() - self._shown > _REPAINT_SECONDS:
            self._paint("\n".join(self._lines))

    def _paint(self, text: str) -> None:
        from IPython.display import HTML

        self._shown = time.monotonic()
        shown = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")
        if self._handle is None:
            self._handle = self._display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def done(self) -> None:
        if self._handle is not None:
            self._paint("")
