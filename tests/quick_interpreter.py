"""Triton's interpreter without work that it repeats, for tests that run many programs in it.

Each call of a device function replaces the functions of triton.language anew, which takes half of the time of small kernels. All that it sets
is set already when a grid runs: here a grid replaces them once for each set of modules that its functions see.
"""
import functools

import triton.language as tl
from triton.runtime import interpreter


def install():
    """Holds in this process from here on. TRITON_INTERPRET has to be set before triton is imported, as ever."""
    replace, run = interpreter._patch_lang, interpreter.GridExecutor.__call__
    done = set()

    @functools.cache
    def seen(function):
        return frozenset(value.__name__ for value in function.__globals__.values() if value is tl or value is tl.core)

    def replace_once(function):
        modules = seen(function)
        if modules in done:
            return interpreter._LangPatchScope()
        scope = replace(function)
        done.add(modules)
        return scope

    def run_grid(self, *arguments, **named):
        done.clear()  # the grid before has put the functions back
        try:
            return run(self, *arguments, **named)
        finally:
            done.clear()

    interpreter._patch_lang, interpreter.GridExecutor.__call__ = replace_once, run_grid
