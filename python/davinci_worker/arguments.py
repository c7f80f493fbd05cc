"""What get_inputs() and get_init_inputs() return, as the arguments of a call.

| returned | arguments |
|---|---|
| a list or tuple | positional |
| a dict | by keyword |
| ``[[positional …], {keyword: …}]`` | both, where the function takes them so |

The last form is also a list and a dict by position. The function decides: by its signature, and where that allows both by running.
"""

import inspect

from davinci_worker import memory, packing


def of(returned, function, runs):
    """Arguments for ``packing.called``. ``runs(arguments)`` says whether the function can do with them; it is asked only where the signature
    allows two readings."""
    if isinstance(returned, dict):
        return dict(returned)
    plain = list(returned)
    if (both := _as_both(plain)) is None or not _binds(function, both):
        return plain
    if not _binds(function, plain) or _names_parameters(function, both.keywords) or runs(both):
        return both
    return plain


def _as_both(returned):
    """``[[positional …], {keyword: …}]`` read as such; None where it is something else."""
    if len(returned) != 2 or type(returned[0]) not in (list, tuple) or type(returned[1]) is not dict:
        return None
    if not all(isinstance(key, str) and key.isidentifier() for key in returned[1]):
        return None
    return packing.Arguments(list(returned[0]), dict(returned[1]))


def _parameters(function):
    """None where Python cannot tell."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _binds(function, arguments):
    signature = _parameters(function)
    if signature is None:
        return True
    positional, keywords = packing.split(arguments)
    try:
        signature.bind(*positional, **keywords)
    except TypeError:
        return False
    return True


def _names_parameters(function, keywords):
    """A dict whose keys are names of the function's own parameters is no argument by position."""
    signature = _parameters(function)
    named = set() if signature is None else {p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return bool(keywords) and named.issuperset(keywords)


def run_through(function):
    """For ``of``: does one call with the arguments end without an exception?"""
    def runs(arguments):
        try:
            packing.called(function, arguments)
        except Exception as error:  # noqa: BLE001  it is user code
            if memory.ran_out(error):
                raise
            return False
        return True

    return runs
