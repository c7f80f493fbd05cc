"""A live module's state, handed over in a file beside its task: written by ``davinci.optimize``, read by the reference alone.

The file holds tensors and plain values only and is read with ``weights_only``: no code is ever unpickled. Classes are named, and found in
the task file or imported.
"""

import enum
import importlib
import math
import os
import sys

import torch

FORMAT = 1
_PLAIN = (type(None), bool, int, float, str, bytes, complex)
_INTERNAL = frozenset(vars(torch.nn.Module())) - {"training"}


class Unsupported(Exception):
    """A value that cannot be written down; the text says where it stands and what it is."""


def import_path(kind):
    """"module:qualified.name" of a class or function that can be imported."""
    module, name = getattr(kind, "__module__", None), getattr(kind, "__qualname__", None)
    if module and name and "<" not in name:
        value = sys.modules.get(module)
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is kind:
            return f"{module}:{name}"
    for module in ("torch", "torch.nn.functional"):
        if getattr(sys.modules.get(module), getattr(kind, "__name__", ""), None) is kind:
            return f"{module}:{kind.__name__}"
    raise Unsupported(f"{kind!r}, which cannot be imported by a name")


class Writer:
    def __init__(self, path_of):
        """``path_of`` a class or function: how it is found again, by its name in the task or as ``import_path`` says."""
        self._path_of = path_of
        self.tensors = []
        self._index = {}

    def tensor(self, value):
        if id(value) not in self._index:
            self._index[id(value)] = len(self.tensors)
            self.tensors.append(value)
        return self._index[id(value)]

    def value(self, value, where):
        if type(value) in _PLAIN:
            return value
        if isinstance(value, torch.nn.Module):
            raise Unsupported(f"{where} is a module outside of a ModuleList or ModuleDict")
        if isinstance(value, torch.Tensor):
            if type(value) not in (torch.Tensor, torch.nn.Parameter):
                raise Unsupported(f"{where} is a {type(value).__name__}")
            return {"tensor": self.tensor(value)}
        if type(value) in (torch.dtype, torch.device):
            return {"torch": str(value).removeprefix("torch."), "is": type(value).__name__}
        if type(value) in (list, tuple, set, frozenset, torch.Size):
            return {"items": [self.value(v, f"{where}[{i}]") for i, v in enumerate(value)], "is": type(value).__name__}
        if isinstance(value, dict):
            return {"dict": [[self.value(k, where), self.value(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
            try:
                return {"name": self._path_of(value)}
            except Unsupported as error:
                raise Unsupported(f"{where} is {error}") from None
        kind = type(value)
        try:
            if isinstance(value, enum.Enum):
                return {"member": self._path_of(kind), "of": value.name}
            if isinstance(value, tuple) and hasattr(kind, "_fields"):
                return {"object": self._path_of(kind), "items": [self.value(v, where) for v in value]}
            if hasattr(value, "__dict__") and kind.__module__.partition(".")[0] not in ("torch", "builtins", "_io"):
                return {"object": self._path_of(kind), "state": self.value(vars(value), where)}
        except Unsupported as error:
            raise Unsupported(f"{where} is a {kind.__qualname__}: {error}") from None
        raise Unsupported(f"{where} is a {type(value).__module__}.{type(value).__qualname__}")

    def module(self, model, name="the module", seen=None):
        seen = {} if seen is None else seen
        if id(model) in seen:
            return {"shared": seen[id(model)]}
        seen[id(model)] = len(seen)
        hooks = [key for key, value in vars(model).items() if key.endswith(("_hooks", "_pre_hooks")) and value]
        if hooks:
            raise Unsupported(f"{name} has hooks ({', '.join(hooks)}), whose code is no part of the class; remove them first")
        return {
            "class": self._path_of(type(model)), "training": model.training,
            "attributes": {key: self.value(value, f"{name}.{key}") for key, value in vars(model).items() if key not in _INTERNAL and key != "training"},
            "parameters": [[key, None if value is None else self.tensor(value), value is not None and value.requires_grad]
                           for key, value in model._parameters.items()],
            "buffers": [[key, None if value is None else self.tensor(value), key not in model._non_persistent_buffers_set]
                        for key, value in model._buffers.items()],
            "modules": [[key, None if value is None else self.module(value, f"{name}.{key}", seen)] for key, value in model._modules.items()],
        }

    def write(self, path, **parts):
        """``tensors`` that share memory do so again when they are read; those on a device are written from the host."""
        tensors = [t.detach().cpu() for t in self.tensors]
        temporary = f"{path}.{os.getpid()}"
        torch.save({"format": FORMAT, "tensors": tensors, **parts}, temporary)
        os.replace(temporary, path)


class Reader:
    def __init__(self, scope, content):
        self._scope, self._tensors, self._made, self._parameters = scope, content["tensors"], [], {}

    def find(self, path):
        module, colon, name = path.partition(":")
        if not colon:
            return self._scope[path]
        value = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
        return value

    def value(self, value):
        if type(value) is not dict:
            return value
        if "tensor" in value:
            return self._tensors[value["tensor"]]
        if "torch" in value:
            return getattr(torch, value["torch"]) if value["is"] == "dtype" else torch.device(value["torch"])
        if "dict" in value:
            return {self.value(k): self.value(v) for k, v in value["dict"]}
        if "name" in value:
            return self.find(value["name"])
        if "member" in value:
            return self.find(value["member"])[value["of"]]
        if "object" in value:
            kind = self.find(value["object"])
            if "items" in value:
                return kind(*map(self.value, value["items"]))
            made = object.__new__(kind)
            vars(made).update(self.value(value["state"]))
            return made
        kinds = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "Size": torch.Size}
        return kinds[value["is"]](map(self.value, value["items"]))

    def _parameter(self, index, requires_grad):
        if index not in self._parameters:
            self._parameters[index] = torch.nn.Parameter(self._tensors[index], requires_grad and self._tensors[index].is_floating_point())
        return self._parameters[index]

    def module(self, described, made=None):
        if "shared" in described:
            return self._made[described["shared"]]
        if made is None:
            kind = self.find(described["class"])
            made = kind.__new__(kind)
        torch.nn.Module.__init__(made)
        self._made.append(made)
        made.training = described["training"]
        for key, index, requires_grad in described["parameters"]:
            made.register_parameter(key, None if index is None else self._parameter(index, requires_grad))
        for key, index, persistent in described["buffers"]:
            made.register_buffer(key, None if index is None else self._tensors[index], persistent)
        for key, child in described["modules"]:
            made._modules[key] = None if child is None else self.module(child)
        for key, value in described["attributes"].items():
            made.__dict__[key] = self.value(value)
        return made


def _content(task_file):
    return torch.load(os.path.splitext(task_file)[0] + ".weights.pt", weights_only=True)


def restore(module, task_file):
    """In place of a constructor: gives ``module`` the state that lies next to the task, tensors of its own."""
    content = _content(task_file)
    scope = vars(sys.modules[type(module).__module__])
    Reader(scope, content).module(content["module"], module)


def tensor(task_file, name):
    """A tensor that the task's code names, an example input among them."""
    content = _content(task_file)
    return content["tensors"][content["named"][name]]


def _draw(like):
    """Python that draws a tensor like an example: its shape, type and range; None where the values look like more than chance."""
    shape, options = ", ".join(map(str, like.shape)), ""
    if like.is_floating_point():
        values = like.detach().float()
        if like.numel() == 0 or not bool(torch.isfinite(values).all()):
            return None
        few = values.flatten()[:65536].unique().numel()
        if few < min(values.numel(), 65536) * (0.5 if like.element_size() >= 4 else 0.005) and values.numel() > 16:
            return None
        if like.dtype is not torch.get_default_dtype():
            options = f", dtype={like.dtype}"
        low, high = values.min().item(), values.max().item()
        if low < 0 < high:
            spread = values.std().item() if values.numel() > 1 else abs(values.item())
            scale = "" if 0.8 < spread < 1.25 else f" * {spread:.3g}"
            return f"torch.randn({shape or '()'}{options}){scale}"
        if 0 <= low and high <= 1 and high > 0.5:
            return f"torch.rand({shape or '()'}{options})"
        return f"torch.rand({shape or '()'}{options}) * {high - low:.3g} + {low:.3g}" if high > low and math.isfinite(high - low) else None
    if like.dtype is torch.bool or like.numel() < 2:
        return None
    flat = like.flatten()
    low, high = int(flat.min()), int(flat.max())
    if low == high or bool((flat[1:] >= flat[:-1]).all()):
        return None
    return f"torch.randint({low}, {high + 1}, ({shape},), dtype={like.dtype})"


def drawing(like):
    """(Python that draws like ``like``, laid out as it is; None where the example itself has to do)"""
    strides = like.stride()
    order = sorted(range(like.dim()), key=lambda d: -strides[d])
    dense = like.permute(order)
    if like.is_contiguous() or not dense.is_contiguous():
        return _draw(like)
    text = _draw(dense)
    back = [order.index(d) for d in range(like.dim())]
    return text and f"({text}).permute({', '.join(map(str, back))})"
