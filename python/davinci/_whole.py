"""A whole model: its most expensive submodules are optimised, and the kernels put into a copy of it."""

from __future__ import annotations

import html
import inspect
import pathlib
from typing import Any, Callable, NamedTuple

import torch

from ._errors import BadInput, NotReproducible
from ._alike import Reads, key
from ._live import Task, called, copied, write
from ._profile import SMALLEST_SHARE, Profile, profile
from ._results import Optimized, Report

_FIELDS = frozenset(vars(torch.nn.Module()))


class _Arguments(NamedTuple):
    """Of a call."""

    positional: tuple[Any, ...]
    by_keyword: dict[str, Any]
    shapes: str


class _Part(NamedTuple):
    """Submodules that one kernel serves (``_alike``), called with the same shapes."""

    paths: list[str]
    modules: list[torch.nn.Module]
    share: float  # of the model's time


class OptimizedPart(Optimized):
    """What came of one submodule, or of several that are alike."""

    def __init__(self, part: _Part, task: dict[str, Any], document: dict[str, Any], task_file: str) -> None:
        super().__init__(part.modules[0], task, document, task_file)
        self.paths = part.paths
        self.share = part.share
        if task.get("failed"):
            self.remark = task["failed"]

    def __repr__(self) -> str:
        return f"<{', '.join(self.paths)}: {super().__repr__()[1:]}"


class OptimizedModel:
    """The result of ``optimize(model, …, top=N)``."""

    def __init__(self, original: torch.nn.Module, measured: Profile, entries: list[OptimizedPart], skipped: list[tuple[str, str]]) -> None:
        self.original = original
        self.profile = measured
        self.entries = entries
        self.skipped = skipped  # (path, why it could not be optimised) of submodules that would have come first
        self._model: torch.nn.Module | None = None

    def __iter__(self) -> Any:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> OptimizedPart:
        return self.entries[index]

    @property
    def found(self) -> bool:
        """Is there a kernel for any of them?"""
        return any(entry.found for entry in self.entries)

    @property
    def model(self) -> torch.nn.Module:
        """The model with the kernels in the places of the submodules: the same parameters, the very objects. The original stays as it is."""
        if self._model is None:
            made = {id(module): entry.around(module) for entry in self.entries if entry.found
                    for module in map(self.original.get_submodule, entry.paths)}
            self._model = _with(self.original, made)
        return self._model

    module = model

    @property
    def report(self) -> Report | None:
        return self.entries[0].report if self.entries else None

    @property
    def document(self) -> dict[str, Any]:
        return {"schema": "davinci.optimized_model/1", "profile": self.profile.document, "skipped": [list(item) for item in self.skipped],
                "entries": [{"paths": e.paths, "share": e.share, "found": e.found, "speedup": e.speedup._asdict() if e.speedup else None,
                             "file": str(e.file) if e.file else None, "remark": e.remark} for e in self.entries]}

    def __repr__(self) -> str:
        lines = [repr(entry) for entry in self.entries] + [f"<{path}: left out: {why}>" for path, why in self.skipped]
        return "\n".join(lines) or "<no submodule takes enough time to be worth a kernel>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in (', '.join(e.paths), f'{e.share:.0%}', str(e.speedup or e.remark)))}"
                       "</tr>" for e in self.entries)
        return f"<table><tr><th>submodule</th><th>share</th><th>speedup over eager</th></tr>{rows}</table>"


def optimize_parts(model: Any, example_inputs: Any, top: int, folder: pathlib.Path,
                   run: Callable[[list[str], str | None], dict[str, Any]]) -> OptimizedModel:
    if type(top) is not int or top < 1:
        raise BadInput(f"top={top!r}; give the number of submodules to optimise, 1 or more")
    measured = profile(model, example_inputs)
    reads = Reads()
    inputs = _inputs_of(model, example_inputs, [row.path for row in measured if row.kernel_ms > 0], reads)
    parts = _parts(model, measured, inputs, reads)
    chosen: list[_Part] = []
    tasks: list[Task] = []
    skipped: list[tuple[str, str]] = []
    for part in parts:
        if len(chosen) == top:
            break
        if any(_overlap(own, other) for own in part.paths for taken in chosen for other in taken.paths):
            continue
        try:
            arguments = _as_example(part.modules[0], inputs[part.paths[0]])
            tasks.append(write(part.modules[0], arguments, folder, part.paths[0].replace(".", "_")))
            chosen.append(part)
        except (BadInput, NotReproducible) as error:
            skipped.append((part.paths[0], str(error)))
    if not chosen:
        return OptimizedModel(model, measured, [], skipped)
    document = run([str(task.path) for task in tasks], tasks[0].target)
    found = {task["task"]: task for task in document["tasks"]}
    entries = [OptimizedPart(part, found[task.id], document, str(task.path)) for part, task in zip(chosen, tasks)]
    return OptimizedModel(model, measured, entries, skipped)


def _parts(model: torch.nn.Module, measured: Profile, inputs: dict[str, _Arguments], reads: Reads) -> list[_Part]:
    """The candidates of a profile, those that are alike together, the most expensive first."""
    order = {path: i for i, (path, _) in enumerate(model.named_modules())}
    grouped: dict[tuple[str, str], _Part] = {}
    for row in sorted((row for row in measured if row.path in inputs), key=lambda row: order[row.path]):
        module = model.get_submodule(row.path)
        alike = key(module, reads), inputs[row.path].shapes
        known = grouped.get(alike, _Part([], [], 0.0))
        grouped[alike] = _Part([*known.paths, row.path], [*known.modules, module], known.share + row.kernel_ms / measured.total_ms)
    return sorted((part for part in grouped.values() if part.share > SMALLEST_SHARE), key=lambda part: -part.share)


def _overlap(own: str, other: str) -> bool:
    return own == other or own.startswith(other + ".") or other.startswith(own + ".")


def _inputs_of(model: torch.nn.Module, example_inputs: Any, paths: list[str], reads: Reads) -> dict[str, _Arguments]:
    """What each submodule is called with first. Tensors are copied only where it may be optimised: of equal shapes the first."""
    found: dict[str, _Arguments] = {}
    seen: set[tuple[type, str]] = set()

    def keep(path: str) -> Any:
        def hook(module: torch.nn.Module, arguments: Any, keywords: Any) -> None:
            if path in found:
                return
            shapes = _shapes((arguments, keywords))
            if (type(module), shapes) not in seen:
                arguments, keywords = copied(arguments), copied(keywords)
            seen.add((type(module), shapes))
            found[path] = _Arguments(arguments, keywords, shapes)

        return hook

    handles = [model.get_submodule(path).register_forward_pre_hook(keep(path), with_kwargs=True) for path in paths]
    try:
        with torch.no_grad(), reads.of(model):
            called(model, example_inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _shapes(value: Any) -> str:
    """Of arguments: what tells two calls apart that one kernel cannot serve."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{tuple(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_shapes, value))}]"
    return f"{{{','.join(f'{k}:{_shapes(v)}' for k, v in value.items())}}}" if isinstance(value, dict) else repr(value)


def _as_example(module: torch.nn.Module, call: _Arguments) -> Any:
    """Arguments of a call as example inputs: a tuple, or a dict of those by keyword."""
    arguments, keywords = call.positional, call.by_keyword
    if not keywords:
        return arguments
    if not arguments:
        return keywords
    bound = inspect.signature(module.forward).bind(*arguments, **keywords)
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL):
            raise BadInput(f"{type(module).__qualname__}.forward takes {name} by position and others by keyword; optimise it by itself")
        named.update(value if kind is inspect.Parameter.VAR_KEYWORD else {name: value})
    return named


def _with(model: torch.nn.Module, made: dict[int, torch.nn.Module]) -> torch.nn.Module:
    """The model with other modules in places; what holds none of them is the original's."""
    known = dict(made)

    def rebuilt(module: torch.nn.Module) -> torch.nn.Module:
        if id(module) in known:
            return known[id(module)]
        children = {name: child if child is None else rebuilt(child) for name, child in module._modules.items()}
        own = module
        if any(children[name] is not child for name, child in module._modules.items()):
            own = type(module).__new__(type(module))
            own.__dict__.update({key: value.copy() if key in _FIELDS and isinstance(value, (dict, set)) else value
                                 for key, value in vars(module).items()})
            own.__dict__["_modules"] = children
        known[id(module)] = own
        return own

    return rebuilt(model)
