"""A live module or function as a task: its source, its state in a file next to it, and inputs that are drawn like the example."""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import inspect
import os
import pathlib
import re
import sys
import types
from typing import Any, Callable, NamedTuple

import torch

from . import _program
from ._errors import BadInput, NotReproducible
from ._source import Collector, constant, describe, is_installed


def live() -> Any:
    """davinci_worker.live, of the program that will run."""
    folder = str(_program.home() / "python")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module("davinci_worker.live")


class Task(NamedTuple):
    path: pathlib.Path  # the task file
    id: str
    target: str  # where its tensors are: "cpu" or "cuda"
    model: torch.nn.Module | Callable[..., Any]


def write(model: Any, inputs: Any, folder: pathlib.Path, name: str | None = None) -> Task:
    """The task of a live module or function in a folder named after its content, so that the same module is the same task."""
    if isinstance(model, type):
        raise BadInput(f"{model.__qualname__} is a class; pass an instance of it, or a task file")
    collector = Collector()
    is_module = isinstance(model, torch.nn.Module)
    if not is_module and not isinstance(model, types.FunctionType):
        raise NotReproducible(f"{model!r} is neither a torch.nn.Module nor a Python function, so there is no source to write down; "
                              "wrap the call in a function defined with def, or pass a module")
    worker = live()
    if is_module:
        body, writer, described = _module(model, collector, worker)
        title = name or type(model).__name__
    else:
        body, writer, described = "", worker.Writer(_path_of(collector, worker)), None
        title = name or collector.add(model)
    inputs_text, examples = _inputs(model, inputs, collector, worker)
    if not is_module and name is not None:
        collector.add(model)
    named = {key: writer.tensor(value) for key, value in {**collector.tensors, **examples}.items()}
    text = f'"""{title}, a live {"module" if is_module else "function"} that was handed to davinci."""\n' + collector.text() + body + inputs_text
    sidecar = [f'precision = "{_precision(model, inputs)}"']
    if is_module and _entry(collector) != "Model":
        sidecar.append(f'entry = "{_entry(collector)}"')
    if not is_module:
        sidecar.append(f'function = "{collector.names[id(model)]}"')
    content = _digest(text, sidecar, writer.tensors)
    safe = re.sub(r"\W", "_", title) or "module"
    place = folder / f"{safe}-{content[:12]}"
    path = place / f"{safe}.py"
    place.mkdir(parents=True, exist_ok=True)
    if named or described is not None:
        writer.write(str(path.with_suffix(".weights.pt")), module=described, named=named)
    for file, lines in ((path.with_suffix(".toml"), "\n".join(sidecar) + "\n"), (path, text)):
        temporary = file.with_name(f"{file.name}.{os.getpid()}")
        temporary.write_text(lines, encoding="utf-8")
        os.replace(temporary, file)
    return Task(path, safe, _target(model, inputs), model)


def _module(model: torch.nn.Module, collector: Collector, worker: Any) -> tuple[str, Any, Any]:
    for part in model.modules():
        kind = type(part)
        if isinstance(part, torch.jit.ScriptModule):
            raise NotReproducible("a scripted module has no Python source; pass the module that it was made from")
        if "forward" in vars(part):
            raise NotReproducible(f"forward of a {kind.__qualname__} was replaced on the instance; define it in the class")
        if not kind.__module__.startswith("torch."):
            collector.add(kind)
        elif kind.__module__.startswith("torch.fx"):
            raise NotReproducible(f"{describe(kind)} was generated, and has no source; pass the module that it was made from")
    own = collector.names.get(id(type(model)))
    base = own
    if base is None:  # a module of torch's
        base = type(model).__qualname__
        collector._imports[base] = f"from {type(model).__module__} import {base}"
    writer = worker.Writer(_path_of(collector, worker))
    try:
        described = writer.module(model)
    except worker.Unsupported as error:
        raise NotReproducible(f"{error}, which cannot be written down; keep plain values, tensors, buffers and modules in a module, or optimise "
                              "it as a task file: davinci tasks new") from None
    collector._imports["_live"] = "from davinci_worker import live as _live"
    collector._imports["nn"] = collector._imports.get("nn") or "from torch import nn"
    entry = _entry(collector)
    body = (f"\n\nclass {entry}({base}):\n"
            f'    """The live module. It has no constructor arguments; its attributes, parameters and buffers:\n\n{_outline(model)}\n    """\n\n'
            "    def __init__(self):\n        _live.restore(self, __file__)\n")
    return body, writer, described


def _path_of(collector: Collector, worker: Any) -> Callable[[Any], str]:
    def path(kind: Any) -> str:
        if id(kind) in collector.names:
            return collector.names[id(kind)]
        if isinstance(kind, (type, types.FunctionType)) and not is_installed(kind):
            return collector.add(kind)
        found: str = worker.import_path(kind)
        return found

    return path


def _entry(collector: Collector) -> str:
    return "LiveModel" if "Model" in collector._taken else "Model"


def _outline(model: torch.nn.Module) -> str:
    """What a candidate has to hold under the same names."""
    lines = []
    for prefix, module in model.named_modules():
        label = f"{prefix}: {type(module).__name__}" if prefix else f"training = {model.training}"
        if prefix and type(module).__module__.startswith("torch."):
            label = f"{prefix}: {module!r}" if not list(module.children()) else label
        lines.append("    " + label)
        dot = prefix + "." if prefix else ""
        for key, value in vars(module).items():
            plain = constant(value)
            if not key.startswith("_") and key != "training" and plain is not None and not type(module).__module__.startswith("torch."):
                lines.append(f"    {dot}{key} = {plain[:200]}")
        for what, tensors in (("parameter", module._parameters), ("buffer", module._buffers)):
            lines += [f"    {dot}{key}: {what}, {str(t.dtype).removeprefix('torch.')} {tuple(t.shape)}" for key, t in tensors.items() if t is not None]
    return "\n".join(line.replace("\\", "\\\\").replace('"""', "'''") for line in lines)


def _inputs(model: Any, inputs: Any, collector: Collector, worker: Any) -> tuple[str, dict[str, torch.Tensor]]:
    """(the text of get_inputs, the tensors that it has to take from the example)"""
    if isinstance(inputs, types.FunctionType):
        if inputs.__name__ == "get_inputs":
            collector.add(inputs)
            return "", {}
        made = collector.add(inputs)
        return f"\n\ndef get_inputs():\n    return {made}()\n", {}
    examples: dict[str, torch.Tensor] = {}

    def text(value: Any, name: str) -> str:
        if isinstance(value, torch.Tensor):
            if type(value) not in (torch.Tensor, torch.nn.Parameter):
                raise BadInput(f"{name} is a {type(value).__qualname__}; pass an ordinary tensor")
            drawn = worker.drawing(value.detach().cpu())
            if drawn is not None:
                return str(drawn)
            key = "example " + name
            examples[key] = value
            collector._imports["_live"] = "from davinci_worker import live as _live"
            shape = f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
            return f"_live.tensor(__file__, {key!r}).clone()  # {shape}, as in the example\n        "
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            inner = ", ".join(text(v, f"{name}[{i}]") for i, v in enumerate(value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!r}: {text(v, f'{name}[{k!r}]')}" for k, v in value.items()) + "}"
        plain = constant(value)
        if plain is None:
            raise BadInput(f"{name} is a {type(value).__qualname__}; inputs are tensors, numbers, strings, and tuples, lists and dicts of them, or "
                           "pass a function that draws them")
        return plain

    if inputs is None:
        raise BadInput("no example inputs; pass what the module is called with: a tensor, a tuple of arguments, a dict of keyword arguments, or a "
                       "function that draws them")
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if isinstance(inputs, dict):
        body = "".join(f"        {k!r}: {text(v, k)},\n" for k, v in inputs.items())
        return f"\n\ndef get_inputs():\n    return {{\n{body}    }}\n", examples
    if not isinstance(inputs, (list, tuple)):
        raise BadInput(f"example inputs are a {type(inputs).__qualname__}; pass a tensor, a tuple of arguments, or a dict of keyword arguments")
    names = _argument_names(model, len(inputs))
    body = "".join(f"        {text(v, n)},\n" for n, v in zip(names, inputs))
    return f"\n\ndef get_inputs():\n    return [\n{body}    ]\n", examples


def _argument_names(model: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model).parameters)
    except (TypeError, ValueError):
        names = []
    return [names[i] if i < len(names) else f"argument {i}" for i in range(count)]


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in _tensors(v)]
    if isinstance(value, dict):
        return _tensors(list(value.values()))
    return []


def _all_tensors(model: Any, inputs: Any) -> list[torch.Tensor]:
    own = [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []
    return [*own, *_tensors(inputs() if isinstance(inputs, types.FunctionType) else inputs)]


def _precision(model: Any, inputs: Any) -> str:
    names = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64"}
    kinds = {t.dtype for t in _all_tensors(model, inputs) if t.is_floating_point()}
    return names.get(next(iter(kinds)), "fp32") if len(kinds) == 1 else "fp32"


def _target(model: Any, inputs: Any) -> str:
    return "cuda" if any(t.is_cuda for t in _all_tensors(model, inputs)) else "cpu"


def _digest(text: str, sidecar: list[str], tensors: list[torch.Tensor]) -> str:
    digest = hashlib.sha256("\0".join([text, *sidecar]).encode())
    for tensor in tensors:
        value = tensor.detach().cpu().contiguous()
        digest.update(f"{value.dtype} {tuple(value.shape)} {tensor.stride()}".encode())
        if value.numel():
            digest.update((ctypes.c_char * (value.numel() * value.element_size())).from_address(value.data_ptr()))
    return digest.hexdigest()
