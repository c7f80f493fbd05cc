"""A reference that is compiled already, or that compiles parts of itself (flex attention), as PyTorch runs it operator by operator.

Truth is what the reference means, not what a compiler makes of it, and what watches or changes its operators (rounding.py, forms.py) sees
none of them inside of compiled code. The baseline runs it as it was written.
"""

import torch


class _Asked:
    """For a compiler since the last ``forget``?"""

    compiler = False


def _compile(model=None, **options):
    _Asked.compiler = True
    return model if model is not None else lambda function: function


def _compile_module(model, *args, **options):
    _Asked.compiler = True


def install():
    """Once for a process: torch.compile() and Module.compile() leave everything as it is."""
    torch.compile, torch.nn.Module.compile = _compile, _compile_module


def forget():
    _Asked.compiler = False


def asked_for_a_compiler():
    return _Asked.compiler
