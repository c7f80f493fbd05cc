"""What can go wrong, as exceptions. Their text is what the program says."""

from __future__ import annotations


class DavinciError(Exception):
    """The program failed, or could not finish. ``status``: its exit status."""

    def __init__(self, message: str, status: int = 3) -> None:
        super().__init__(message)
        self.status = status


class BadInput(DavinciError, ValueError):
    """A file, an option or a task cannot be used; the text names it and the remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 2)


class NotReproducible(BadInput, TypeError):
    """A live module or function cannot be written down as a task; the text says which part, and what to do."""
