"""Why a module cannot be recorded, and where in the user's file."""

import os
import sys

import torch

_TORCH = os.path.dirname(torch.__file__) + os.sep
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Untraceable(Exception):
    """Why a module cannot be recorded, and where."""


class Kept(Exception):
    """The submodule ``path`` has to stay one call of itself."""

    def __init__(self, path, why):
        super().__init__(why)
        self.path = path


def users_line():
    """"file.py:12" of the user's line that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_TORCH, _OWN, "<")):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
