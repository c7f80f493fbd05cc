"""davinci: faster kernels for PyTorch modules, written by rules or by a language model and judged in a sandbox.

    result = davinci.optimize(module, (x,))      # by rules; llm="http://127.0.0.1:8000/v1", model="qwen3-32b" asks a model
    print(result.speedup)          # 3.1x (3.02 – 3.18)
    net.block = result.module      # the same parameters

docs/python.md has the rest. The program does the work; this package writes its tasks and reads its JSON.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Sequence

from . import _program
from ._errors import BadInput, DavinciError, NotReproducible
from ._progress import Progress

if TYPE_CHECKING:
    import torch

    from ._profile import Profile
    from ._results import Optimized, Report, Speedup, Verdict
    from ._whole import OptimizedModel

__all__ = ["BadInput", "DavinciError", "NotReproducible", "Optimized", "OptimizedModel", "Profile", "Report", "Speedup", "Verdict", "benchmark",
           "judge", "optimize", "profile"]
_OF_MODULES = {"Optimized": "_results", "Report": "_results", "Speedup": "_results", "Verdict": "_results", "Profile": "_profile",
               "OptimizedModel": "_whole"}

_FINISHED = (0, 1, 4)  # a certified kernel, none, one that is not faster


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is asked for: the command line does without."""
    if name in _OF_MODULES:
        return getattr(importlib.import_module(f".{_OF_MODULES[name]}", __name__), name)
    raise AttributeError(f"module 'davinci' has no attribute {name!r}")


def optimize(module: Any, example_inputs: Any = None, *, further_inputs: Sequence[Any] = (), llm: str | list[str] | None = None,
             model: str | None = None, target: str | None = None, name: str | None = None, run: str | os.PathLike[str] | None = None,
             task_folder: str | os.PathLike[str] = "davinci-runs/tasks", top: int | None = None,
             progress: bool | Callable[[str], None] = True, **options: Any) -> Any:
    """The fastest kernel for a live module or function that the judge certifies. A language model writes it, or, without ``llm``, the expert's rules.

    ``module``: a torch.nn.Module, a function, or a task file ("net.py" or "net.py:Net"). ``example_inputs``: what it is called with, a tensor, a
    tuple of arguments, a dict of keyword arguments, or a function that draws them. Other tensors of the same shape, type and range are drawn for
    each call; where values are structured (masks, sorted indices) the example itself is used. ``further_inputs``: inputs of other shapes that the
    kernel serves, too; ``example_inputs`` are those that are timed. ``options`` are those of ``davinci optimize``: ``turns=3``, ``budget_usd=2``,
    ``recipe="…"``, ``set={"run.seed": 1}``.

    Returns an Optimized. With ``top=3`` the module is a whole model: its three most expensive submodules (``profile``) are optimised on the
    inputs that they get from it, all in one run, and an OptimizedModel comes back.

    Interrupted, or out of budget, the same call continues where it was. Raises BadInput, NotReproducible or DavinciError with what the
    program says."""
    from ._results import Optimized

    if top is not None:
        from ._whole import optimize_parts

        if name is not None:
            raise BadInput("name= names one task; with top= the submodules' paths name them")
        if further_inputs:
            raise BadInput("further_inputs= go with one module, and not with top=; optimise the submodule itself")

        def run_all(paths: list[str], where: str | None) -> dict[str, Any]:
            return _optimized(paths, {"llm": llm, "model": model, "target": target or where, "run": run, **options}, progress)

        return optimize_parts(module, example_inputs, top, pathlib.Path(task_folder), run_all)
    path, given, task_target = _task(module, example_inputs, name, pathlib.Path(task_folder), further_inputs)
    document = _optimized([path], {**given, "llm": llm, "model": model, "target": target or task_target, "run": run, **options}, progress)
    task = document["tasks"][0]
    if task.get("failed"):
        raise DavinciError(task["failed"])
    return Optimized(module, task, document, path)


def _optimized(paths: list[str], options: dict[str, Any], progress: bool | Callable[[str], None]) -> dict[str, Any]:
    """The document of ``davinci optimize``."""
    listener = Progress() if progress is True else progress if callable(progress) else None
    try:
        document: dict[str, Any] = _program.run("optimize", [*paths, *_program.flags(options), "--progress"], listener, _FINISHED)
    finally:
        if isinstance(listener, Progress):
            listener.done()
    return document


def profile(model: torch.nn.Module, example_inputs: Any) -> Profile:
    """Which submodules cost most: a table of their own times and shares, calls, paths and classes (``document``: the same as plain values).

    ``example_inputs`` as for ``optimize``. The model is called a few times, in the mode that it is in, under ``torch.no_grad()``."""
    from ._profile import profile as measured

    return measured(model, example_inputs)


def judge(reference: Any, candidate: Any, example_inputs: Any = None, *, target: str | None = None, **options: Any) -> Verdict:
    """Is the candidate correct, and how much faster? A wrong candidate is a verdict, not an exception.

    ``reference`` as for ``optimize``. ``candidate``: a file, its source as text (with a line break), or the result of ``optimize``.
    ``options`` are those of ``davinci judge``: ``protocol="screening"``, ``baseline="compile"``."""
    from ._results import Optimized, Verdict

    with tempfile.TemporaryDirectory(prefix="davinci-judge") as place:
        path, given, task_target = _task(reference, example_inputs, None, pathlib.Path(place))
        if isinstance(candidate, Optimized):
            candidate = candidate.file
            if candidate is None:
                raise BadInput("this result has no kernel to judge")
        if isinstance(candidate, str) and "\n" in candidate:
            file = pathlib.Path(place, "candidate.py")
            file.write_text(candidate, encoding="utf-8")
            candidate = file
        if not isinstance(candidate, (str, os.PathLike)):
            raise BadInput(f"a candidate is a file, its source as text, or the result of optimize, not a {type(candidate).__qualname__}")
        arguments = ["-r", path, "-c", os.fspath(candidate), *_program.flags({**given, "target": target or task_target, **options})]
        return Verdict(_program.run("judge", arguments, None, _FINISHED))


def benchmark(tasks: str | os.PathLike[str], *, llm: str | list[str] | None = None, model: str | None = None,
              progress: bool | Callable[[str], None] = True, **options: Any) -> dict[str, Any]:
    """Scores a language model on a folder of tasks: the document of ``davinci bench --json``."""
    listener = Progress() if progress is True else progress if callable(progress) else None
    arguments = _program.flags({"tasks": tasks, "llm": llm, "model": model, **options})
    try:
        document: dict[str, Any] = _program.run("bench", arguments, listener, _FINISHED)
    finally:
        if isinstance(listener, Progress):
            listener.done()
    return document


def _task(module: Any, example_inputs: Any, name: str | None, folder: pathlib.Path,
          further: Sequence[Any] = ()) -> tuple[str, dict[str, list[str]], str | None]:
    """(the task's path, flags that belong to it, the target where its tensors are)"""
    if not isinstance(further, (list, tuple)):
        raise BadInput(f"further_inputs is a {type(further).__qualname__}; pass a list with the inputs of each further shape")
    if isinstance(module, (str, os.PathLike)):
        if example_inputs is None and not further:
            return os.fspath(module), {}, None
        texts = [example_inputs, *further]
        if not all(isinstance(text, str) for text in texts):
            raise BadInput("inputs of a task file are Python text: 'torch.randn(8, 1024)'")
        return os.fspath(module), {"inputs": texts}, None
    from ._live import write

    task = write(module, example_inputs, folder, name, further)
    return str(task.path), {}, task.target
