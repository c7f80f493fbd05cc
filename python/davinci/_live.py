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
import warnings
from typing import Any, Callable, NamedTuple, Sequence

import torch

from . import _program
from ._errors import BadInput, NotReproducible
from ._source import Collector, constant, is_importable, package_sources


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


def write(model: Any, inputs: Any, folder: pathlib.Path, name: str | None = None, further: Sequence[Any] = ()) -> Task:
    """The task of a live module or function in a folder named after its content, so that the same module is the same task. ``further``: inputs of
    other shapes."""
    if isinstance(model, type):
        raise BadInput(f"{model.__qualname__} is a class; pass an instance of it, or a task file")
    collector = Collector()
    is_module = isinstance(model, torch.nn.Module)
    if isinstance(model, types.FunctionType) and hasattr(model, "_torchdynamo_orig_callable"):
        raise NotReproducible(f"{model.__name__} is compiled by torch.compile; pass the original function")
    if not is_module and not isinstance(model, types.FunctionType):
        raise NotReproducible(f"{model!r} is neither a torch.nn.Module nor a Python function, so there is no source to write down; "
                              "wrap the call in a function defined with def, or pass a module")
    worker = live()
    if is_module:
        body, writer, described = _module(model, collector, worker)
        title = name or type(model).__name__
    else:
        body, writer, described = "", worker.Writer(_path_of(collector, worker)), None
        title = name or model.__name__
    inputs_text, examples, variants = _all_inputs(model, [inputs, *further], collector, worker)
    function = "" if is_module else _base(model, collector) if is_importable(model) else collector.add(model)
    named = {key: writer.tensor(value) for key, value in {**collector.tensors, **examples}.items()}
    text = f'"""{title}, a live {"module" if is_module else "function"} that was handed to davinci."""\n' + collector.text() + body + inputs_text
    text += package_sources([worker.own_class(part) for part in model.modules()] if is_module else [model])
    sidecar = [f'precision = "{_precision(model, inputs)}"']
    if is_module and _entry(collector) != "Model":
        sidecar.append(f'entry = "{_entry(collector)}"')
    if not is_module:
        sidecar.append(f'function = "{function}"')
        sidecar += ["inplace = true"] * _changes_its_arguments(model, inputs)
    elif not any(part.training for part in model.modules()):
        sidecar.append('mode = "eval"')  # a kernel's modules are constructed in training mode
    sidecar += variants
    content = _digest([text, *sidecar, repr(described)], writer.tensors)
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
    for name, part in model.named_modules():
        _insist_on_source(part, name or "the module", worker)
        kind = worker.own_class(part)
        if not is_importable(kind):
            collector.add(kind)
    base = _base(worker.own_class(model), collector)
    writer = worker.Writer(_path_of(collector, worker))
    try:
        described = writer.module(model)
    except worker.Unsupported as error:
        raise NotReproducible(f"{error}, which cannot be written down; keep plain values, tensors, buffers and modules in a module, or optimise "
                              "it as a task file: davinci tasks new") from None
    collector.import_from("davinci_worker", "live", "_live")
    entry = _entry(collector)
    body = (f"\n\nclass {entry}({base}):\n"
            f'    """The live module. It has no constructor arguments; its attributes, parameters and buffers:\n\n{_outline(model)}\n    """\n\n'
            "    def __init__(self):\n        _live.restore(self, __file__, globals())\n")
    return body, writer, described


def _insist_on_source(part: torch.nn.Module, name: str, worker: Any) -> None:
    kind = type(part)
    if isinstance(part, torch.jit.ScriptModule):
        raise NotReproducible(f"{name} is scripted, and has no Python source; pass the module that it was made from")
    if is_compiled(part):
        raise NotReproducible(f"{name} is compiled by torch.compile; pass the original: it is the compiled module's ._orig_mod")
    if kind.__module__.startswith("torch.fx"):
        raise NotReproducible(f"{name} is a {kind.__qualname__}, which was generated, and has no source; pass the module that it was made from")
    if "forward" in vars(part):
        raise NotReproducible(f"forward of {name}, a {kind.__qualname__}, was replaced on the instance; define it in the class")
    if any(torch.nn.parameter.is_lazy(value) for value in part._parameters.values() if value is not None):
        raise NotReproducible(f"{name}, a {kind.__qualname__}, has no parameters before its first call; call it once")
    hooks = [hook for hook in (*part._forward_pre_hooks.values(), *part._forward_hooks.values()) if not worker.computes_weights(hook)]
    if hooks and name != "the module":  # those of the module itself are called around the kernel, too
        warnings.warn(f"davinci: {name} has forward hooks, which are not judged; while it has them, the original runs instead of the kernel",
                      stacklevel=5)


def is_compiled(part: torch.nn.Module) -> bool:
    """By torch.compile? By name, because importing the compiler takes seconds."""
    return any((kind.__module__, kind.__qualname__) == ("torch._dynamo.eval_frame", "OptimizedModule") for kind in type(part).__mro__)


def _base(kind: type, collector: Collector) -> str:
    """The name that the text of the task has for a module's class."""
    if id(kind) in collector.names:
        return collector.names[id(kind)]
    outer, _, inner = kind.__qualname__.partition(".")
    bound = collector.import_from(kind.__module__, outer)
    return f"{bound}.{inner}" if inner else bound


def _path_of(collector: Collector, worker: Any) -> Callable[[Any], str]:
    def path(kind: Any) -> str:
        if id(kind) in collector.names:
            return collector.names[id(kind)]
        if isinstance(kind, (type, types.FunctionType)) and not is_importable(kind):
            return collector.add(kind)
        found: str = worker.import_path(kind)
        collector.import_package(found.partition(":")[0])
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


def _all_inputs(model: Any, shapes: list[Any], collector: Collector, worker: Any) -> tuple[str, dict[str, torch.Tensor], list[str]]:
    """(the text of get_inputs, the tensors that it has to take from the examples, lines of the sidecar). A global selects the shape."""
    if len(shapes) == 1 and isinstance(shapes[0], types.FunctionType) and shapes[0].__name__ == "get_inputs":
        collector.add(shapes[0])
        return "", {}, []
    selector = "SHAPE"
    while selector in collector._taken:
        selector += "_"
    text, examples, lines = "", {}, []
    for number, inputs in [*enumerate(shapes)][::-1]:  # the first is returned where no other one is selected
        value, taken = _inputs(model, inputs, collector, worker, f"example {number} " if number else "example ")
        examples.update(taken)
        indent = "        " if number else "    "
        text += f"    if {selector} == {number}:\n" if number else ""
        text += "".join(f"{indent}{line}\n" for line in f"return {value}".split("\n"))
    for number in range(1, len(shapes)):
        lines += ["", "[[variants]]", f"{selector} = {number}"]
    return (f"\n\n{selector} = 0\n" if lines else "") + f"\n\ndef get_inputs():\n{text}", examples, lines


def _inputs(model: Any, inputs: Any, collector: Collector, worker: Any, prefix: str) -> tuple[str, dict[str, torch.Tensor]]:
    """(what get_inputs returns, as text; the tensors that it has to take from the example)"""
    if isinstance(inputs, types.FunctionType):
        if inputs.__name__ == "get_inputs":
            raise BadInput("with further_inputs a function that draws inputs needs another name than get_inputs")
        return f"{collector.add(inputs)}()", {}
    examples: dict[str, torch.Tensor] = {}

    def text(value: Any, name: str) -> str:
        if isinstance(value, torch.Tensor):
            if type(value) not in (torch.Tensor, torch.nn.Parameter):
                raise BadInput(f"{name} is a {type(value).__qualname__}; pass an ordinary tensor")
            drawn = worker.drawing(value.detach().cpu())
            if drawn is not None:
                return str(drawn)
            key = prefix + name
            examples[key] = value
            collector.import_from("davinci_worker", "live", "_live")
            shape = f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
            return f"_live.tensor(__file__, {key!r}).clone()  # {shape}, as in the example\n    "
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
        body = "".join(f"    {k!r}: {text(v, k)},\n" for k, v in inputs.items())
        return f"{{\n{body}}}", examples
    if not isinstance(inputs, (list, tuple)):
        raise BadInput(f"example inputs are a {type(inputs).__qualname__}; pass a tensor, a tuple of arguments, or a dict of keyword arguments")
    names = _argument_names(model, len(inputs))
    body = "".join(f"    {text(v, n)},\n" for n, v in zip(names, inputs))
    return f"[\n{body}]", examples


def _argument_names(model: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model).parameters)
    except (TypeError, ValueError):
        names = []
    return [names[i] if i < len(names) else f"argument {i}" for i in range(count)]


def called(model: Any, inputs: Any) -> Any:
    """The model's answer to example inputs as ``optimize`` takes them."""
    if isinstance(inputs, types.FunctionType):
        inputs = inputs()
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*(inputs if isinstance(inputs, (list, tuple)) else (inputs,)))


def copied(value: Any) -> Any:
    """The same arguments with copies of the tensors, as they are now."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return {key: copied(item) for key, item in value.items()} if type(value) is dict else value


def _changes_its_arguments(function: Callable[..., Any], inputs: Any) -> bool:
    """Does it write to the tensors that it is called with, as a step of an optimiser does? Asked with copies."""
    given = copied(inputs() if isinstance(inputs, types.FunctionType) else inputs)
    before = [tensor._version for tensor in tensors_in(given)]
    with torch.no_grad(), torch.random.fork_rng():
        try:
            called(function, given)
        except Exception:  # noqa: BLE001  the program says what is wrong with it
            return False
    return [tensor._version for tensor in tensors_in(given)] != before


def tensors_in(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_in(v)]
    if isinstance(value, dict):
        return tensors_in(list(value.values()))
    return []


def _all_tensors(model: Any, inputs: Any) -> list[torch.Tensor]:
    own = [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []
    return [*own, *tensors_in(inputs() if isinstance(inputs, types.FunctionType) else inputs)]


def _precision(model: Any, inputs: Any) -> str:
    names = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64"}
    kinds = {t.dtype for t in _all_tensors(model, inputs) if t.is_floating_point()}
    return names.get(next(iter(kinds)), "fp32") if len(kinds) == 1 else "fp32"


def _target(model: Any, inputs: Any) -> str:
    return "cuda" if any(t.is_cuda for t in _all_tensors(model, inputs)) else "cpu"


def _digest(texts: list[str], tensors: list[torch.Tensor]) -> str:
    digest = hashlib.sha256("\0".join(texts).encode())
    for tensor in tensors:
        digest.update(f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride()}".encode())
        digest.update(content_of(tensor))
    return digest.hexdigest()


def content_of(tensor: torch.Tensor) -> bytes:
    """SHA-256 of a tensor's values."""
    value = tensor.detach().cpu().contiguous()
    held = (ctypes.c_char * (value.numel() * value.element_size())).from_address(value.data_ptr()) if value.numel() else b""
    return hashlib.sha256(held).digest()
