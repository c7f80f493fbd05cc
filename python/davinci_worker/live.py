"""A live module's state, handed over in a file beside its task: written by ``davinci.optimize``, read by the reference alone.

The file holds tensors and plain values only and is read with ``weights_only``: no code is ever unpickled. Objects are described by the names
of their classes, which are found in the task file or imported, and by their state. Only the sandboxed processes of a reference read it.
"""

import copyreg
import enum
import importlib
import math
import os
import sys
import threading
import types
import weakref

import torch
import torch.nn.utils.parametrize

FORMAT = 2
_PLAIN = (type(None), bool, int, float, str, bytes, complex)
_INTERNAL = frozenset(vars(torch.nn.Module())) - {"training"} | {"_compiled_call_impl"}
_SINGLE = ("dtype", "device", "layout", "memory_format")  # types of torch whose values have a name
_MAKERS = ("copyreg:__newobj__", "re:_compile", "logging:getLogger", "collections:OrderedDict")  # functions that may make an object, as classes may
_LOCKS = {type(threading.Lock()): "Lock", type(threading.RLock()): "RLock"}
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


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


def own_class(model):
    """The class of a module, without what torch.nn.utils.parametrize has put in front of it."""
    kind = type(model)
    return kind.__bases__[0] if torch.nn.utils.parametrize.is_parametrized(model) else kind


def computes_weights(hook):
    """Is it a hook of torch.nn.utils (weight_norm, spectral_norm, prune)? Such ones are part of what a module computes."""
    return type(hook).__module__.startswith("torch.nn.utils")


class Writer:
    def __init__(self, path_of):
        """``path_of`` a class or function: how it is found again, by its name in the task or as ``import_path`` says."""
        self._path_of = path_of
        self.tensors = []
        self._index = {}
        self._modules = {}  # id: number, in the order in which the reader makes them
        self._objects = {}  # likewise, of what may be referred to twice
        self._kept = []  # so that no id comes again

    def tensor(self, value):
        if id(value) not in self._index:
            self._index[id(value)] = len(self.tensors)
            self.tensors.append(value)
        return self._index[id(value)]

    def value(self, value, where):
        kind = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, torch.nn.Module):
            return {"module": self.module(value, where)}
        if isinstance(value, torch.Tensor):
            if kind not in (torch.Tensor, torch.nn.Parameter):
                raise Unsupported(f"{where} is a {kind.__name__}")
            number = self.tensor(value)
            return {"parameter": number, "requires_grad": value.requires_grad} if kind is torch.nn.Parameter else {"tensor": number}
        if kind.__module__ == "torch" and kind.__name__ in _SINGLE:
            return {"torch": str(value).removeprefix("torch."), "is": kind.__name__}
        if kind in (tuple, frozenset, torch.Size):
            return {"items": self._items(value, where), "is": kind.__name__}
        if value is ...:
            return {"name": "builtins:Ellipsis"}
        if isinstance(value, types.ModuleType):
            return {"imported": value.__name__}
        if isinstance(value, types.MethodType):
            return {"method": value.__name__, "of": self.value(value.__self__, where)}
        if isinstance(value, type) or isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            return {"name": self._found(value, where)}
        if id(value) in self._objects:
            return {"again": self._objects[id(value)]}
        number = self._objects[id(value)] = len(self._objects)
        self._kept.append(value)
        return dict(self._object(value, where), number=number)

    def _items(self, value, where):
        """Those of a set in an order that does not change from process to process."""
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [self.value(v, f"{where}[{i}]") for i, v in enumerate(items)]

    def _found(self, value, where):
        try:
            return self._path_of(value)
        except Unsupported as error:
            raise Unsupported(f"{where} is {error}") from None

    def _object(self, value, where):
        kind = type(value)
        if kind in (list, set):
            return {"items": self._items(value, where), "is": kind.__name__}
        if kind is dict:
            return {"dict": [[self.value(k, where), self.value(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if kind in _LOCKS:
            return {"lock": _LOCKS[kind]}
        if kind is weakref.ref:
            return {"weak": self.value(value(), where)}
        if kind.__module__ == "numpy" and hasattr(value, "dtype"):
            return {"array": self.tensor(torch.as_tensor(value)), "scalar": kind.__name__ != "ndarray"}
        try:
            return self._reduced(value, where)
        except Unsupported as error:
            text = str(error)
            raise Unsupported(text if text.startswith(where) else f"{where} is a {kind.__qualname__}: {text}") from None

    def _reduced(self, value, where):
        """As pickle sees it, but by names of classes and plain values: what makes it, and what its state is."""
        kind = type(value)
        unsupported = Unsupported(f"{where} is a {kind.__module__}.{kind.__qualname__}")
        try:
            if isinstance(value, enum.Enum):  # Python 3.11.2 makes it by getattr, later versions by its value
                reduced = kind, (value.value,)
            else:
                reduced = copyreg.dispatch_table[kind](value) if kind in copyreg.dispatch_table else value.__reduce_ex__(2)
        except Exception:  # noqa: BLE001  files, threads, generators
            raise unsupported from None
        if not isinstance(reduced, tuple):
            raise unsupported
        function, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        if isinstance(function, types.FunctionType) and function.__name__ == "__newobj__":
            function = copyreg.__newobj__
        if not isinstance(function, type) and import_path(function) not in _MAKERS:
            raise unsupported
        return {"made_by": self._path_of(function), "of": [self.value(v, where) for v in arguments],
                "state": None if state is None else self._state(state, where),
                "items": None if items is None else [self.value(v, where) for v in items],
                "pairs": None if pairs is None else [[self.value(k, where), self.value(v, where)] for k, v in pairs]}

    def _state(self, state, where):
        if type(state) is dict and all(type(key) is str for key in state):
            return {"dict": [[key, self.value(v, f"{where}.{key}")] for key, v in state.items()], "number": None}
        return self.value(state, where)

    def module(self, model, name="the module"):
        if id(model) in self._modules:
            return {"shared": self._modules[id(model)]}
        number = self._modules[id(model)] = len(self._modules)
        described = {
            "number": number, "class": self._found(own_class(model), name), "training": model.training,
            "parameters": [[key, None if value is None else self.tensor(value), value is not None and value.requires_grad]
                           for key, value in model._parameters.items()],
            "buffers": [[key, None if value is None else self.tensor(value), key not in model._non_persistent_buffers_set]
                        for key, value in model._buffers.items()],
            "modules": [[key, None if value is None else self.module(value, f"{name}.{key}")] for key, value in model._modules.items()],
            "attributes": {key: self.value(value, f"{name}.{key}") for key, value in vars(model).items() if key not in _INTERNAL and key != "training"},
            "hooks": [[field, self.value(hook, f"a hook of {name}")] for field in _HOOKS for hook in getattr(model, field).values()
                      if computes_weights(hook)],
        }
        if own_class(model) is not type(model):
            described["parametrized"] = list(model.parametrizations)
        return described

    def write(self, path, **parts):
        """``tensors`` that share memory do so again when they are read; those on a device are written from the host."""
        tensors = [t.detach().cpu() for t in self.tensors]
        temporary = f"{path}.{os.getpid()}"
        torch.save({"format": FORMAT, "tensors": tensors, **parts}, temporary)
        os.replace(temporary, path)


class Reader:
    def __init__(self, scope, content):
        self._scope, self._tensors, self._parameters = scope, content["tensors"], {}
        self._modules, self._objects = {}, {}

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
        if "again" in value:
            return self._objects[value["again"]]
        if "made_by" in value:
            return self._reduced(value)
        if "dict" in value:
            made = self._objects[value["number"]] = {}
            made.update((self.value(k), self.value(v)) for k, v in value["dict"])
            return made
        if value.get("is") in ("list", "set"):
            made = self._objects[value["number"]] = [] if value["is"] == "list" else set()
            (made.extend if value["is"] == "list" else made.update)(map(self.value, value["items"]))
            return made
        made = self._single(value)
        if "number" in value:
            self._objects[value["number"]] = made
        return made

    def _single(self, value):
        if "tensor" in value:
            return self._tensors[value["tensor"]]
        if "parameter" in value:
            return self._parameter(value["parameter"], value["requires_grad"])
        if "module" in value:
            return self.module(value["module"])
        if "torch" in value:
            return torch.device(value["torch"]) if value["is"] == "device" else getattr(torch, value["torch"])
        if "name" in value:
            return self.find(value["name"])
        if "imported" in value:
            return importlib.import_module(value["imported"])
        if "method" in value:
            return getattr(self.value(value["of"]), value["method"])
        if "lock" in value:
            return getattr(threading, value["lock"])()
        if "weak" in value:
            return weakref.ref(self.value(value["weak"]))
        if "array" in value:
            array = self._tensors[value["array"]].numpy()
            return array[()] if value["scalar"] else array
        return {"tuple": tuple, "frozenset": frozenset, "Size": torch.Size}[value["is"]](map(self.value, value["items"]))

    def _reduced(self, value):
        function = self.find(value["made_by"])
        if not isinstance(function, type) and value["made_by"] not in _MAKERS:
            raise RuntimeError(f"{value['made_by']} is no class")
        made = function(*map(self.value, value["of"]))
        self._objects[value["number"]] = made
        state = self.value(value["state"])
        if hasattr(made, "__setstate__") and state is not None:
            made.__setstate__(state)
        elif state is not None:
            plain, slots = state if isinstance(state, tuple) else (state, None)
            if plain:
                vars(made).update(plain)
            for name, item in (slots or {}).items():
                object.__setattr__(made, name, item)
        for item in value["items"] or ():
            made.append(self.value(item))
        for key, item in value["pairs"] or ():
            made[self.value(key)] = self.value(item)
        return made

    def _parameter(self, index, requires_grad):
        if index not in self._parameters:
            self._parameters[index] = torch.nn.Parameter(self._tensors[index], requires_grad and self._tensors[index].is_floating_point())
        return self._parameters[index]

    def module(self, described, made=None):
        """In the order of ``Writer.module``, so that what refers to a module or an object finds it."""
        if "shared" in described:
            return self._modules[described["shared"]]
        if made is None:
            kind = self.find(described["class"])
            made = kind.__new__(kind)
        torch.nn.Module.__init__(made)
        self._modules[described["number"]] = made
        made.training = described["training"]
        for key, index, requires_grad in described["parameters"]:
            made._parameters[key] = None if index is None else self._parameter(index, requires_grad)
        for key, index, persistent in described["buffers"]:
            made._buffers[key] = None if index is None else self._tensors[index]
            if not persistent:
                made._non_persistent_buffers_set.add(key)
        for key, child in described["modules"]:
            made._modules[key] = None if child is None else self.module(child)
        for key, value in described["attributes"].items():
            made.__dict__[key] = self.value(value)
        for field, hook in described["hooks"]:
            hooks = getattr(made, field)
            hooks[torch.utils.hooks.RemovableHandle(hooks).id] = self.value(hook)
        if "parametrized" in described:
            torch.nn.utils.parametrize._inject_new_class(made)
            for name in described["parametrized"]:
                torch.nn.utils.parametrize._inject_property(made, name)
        return made


def _content(task_file):
    return torch.load(os.path.splitext(task_file)[0] + ".weights.pt", weights_only=True)


def restore(module, task_file, scope):
    """In place of a constructor: gives ``module`` the state that lies next to the task, tensors of its own. ``scope``: the globals of the
    task, with the classes that it defines."""
    content = _content(task_file)
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
