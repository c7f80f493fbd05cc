"""Calls of PyTorch as Python text, with {0}, {1}, … for the tensors that they read."""

import inspect
import math

import torch

from davinci_worker import sizes
from davinci_worker.graph_refusal import Untraceable, users_line

_BINARY = {"__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%", "__pow__": "**",
           "__matmul__": "@", "__and__": "&", "__or__": "|", "__xor__": "^", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=",
           "__eq__": "==", "__ne__": "!=", "__lshift__": "<<", "__rshift__": ">>"}
_METHOD_OF_SIGN = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
                   "eq": "==", "ne": "!=", "true_divide": "/"}
# Keywords that change nothing where they have these values.
_USUAL = {"out": None, "dtype": None, "device": None, "layout": None, "size_average": None, "reduce": None, "inplace": False, "ceil_mode": False,
          "return_indices": False, "count_include_pad": True, "divisor_override": None, "padding_idx": None, "max_norm": None,
          "scale_grad_by_freq": False, "sparse": False, "weight": None, "pos_weight": None, "recompute_scale_factor": None, "antialias": False,
          "requires_grad": False, "pin_memory": False, "non_blocking": False, "copy": False, "memory_format": None, "norm_type": 2.0, "ignore_index": -100, "label_smoothing": 0.0, "enable_gqa": False,
          "need_weights": None, "scale": None, "attn_mask": None, "stacklevel": 3}
# Functions that make a tensor of numbers alone.
_FACTORIES = frozenset(f"torch.{name}" for name in (
    "arange", "empty", "eye", "full", "linspace", "logspace", "ones", "tensor", "tril_indices", "triu_indices", "zeros"))
_DTYPE_OF_TYPE = {bool: torch.bool, int: torch.int64, float: torch.float64}  # dtype=float
_SAME_TYPE = frozenset(f"{owner}.{name}" for owner in ("torch", "torch.Tensor", "torch.nn.functional")
                       for name in ("softmax", "log_softmax", "softmin", "sum", "mean", "cumsum", "cumprod", "prod", "zeros_like", "ones_like", "full_like"))


def accessor(model, path):
    """Python text of what lies at a dotted path below ``self``."""
    text, owner = "self", model
    for part in path.split(".") if path else ():
        if part.isidentifier():
            text += f".{part}"
        elif part.isdigit() and isinstance(owner, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)):
            text += f"[{part}]"
        elif isinstance(owner, (torch.nn.ModuleDict, torch.nn.ParameterDict)):
            text += f"[{part!r}]"
        else:
            text = f"getattr({text}, {part!r})"
        owner = getattr(owner, part, None) if isinstance(owner, torch.nn.Module) else None
    return text


class CallText:
    """Writes calls and their arguments. ``value_of(tensor)``: the number of a tensor in the graph; ``devices``: of inputs and weights, by number."""

    def __init__(self, value_of, devices):
        self._value_of, self._devices = value_of, devices

    def text(self, value, reads):
        """Python text of an argument; tensors become {0}, {1}, … of ``reads``."""
        if isinstance(value, torch.Tensor):
            index = self._value_of(value)
            if index not in reads:
                reads.append(index)
            return f"{{{reads.index(index)}}}"
        if value is None or isinstance(value, (bool, str)):
            return repr(value).replace("{", "{{").replace("}", "}}") if isinstance(value, str) else repr(value)
        if type(value) is int:
            return repr(value)
        if isinstance(value, torch.SymInt):
            return sizes.marked(value)
        if isinstance(value, float):
            if math.isfinite(value):
                return repr(float(value))
            return "float('nan')" if math.isnan(value) else "float('inf')" if value > 0 else "float('-inf')"
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, type) and value in _DTYPE_OF_TYPE:
            return str(_DTYPE_OF_TYPE[value])
        if isinstance(value, torch.device):
            return self.device(value, reads)
        if isinstance(value, slice):
            return f"slice({self.text(value.start, reads)}, {self.text(value.stop, reads)}, {self.text(value.step, reads)})"
        if value is Ellipsis:
            return "..."
        if isinstance(value, (list, torch.Size)):
            return "[" + ", ".join(self.text(v, reads) for v in value) + "]"
        if isinstance(value, tuple):
            return "(" + "".join(self.text(v, reads) + ", " for v in value)[:-1 if len(value) == 1 else -2 if value else None].rstrip() + ")"
        if hasattr(value, "item") and type(value).__module__ == "numpy":
            return self.text(value.item(), reads)
        if isinstance(value, int):  # an enum
            return repr(int(value))
        raise Untraceable(f"{users_line()}: an argument of type {type(value).__name__}")

    def device(self, device, reads):
        """The device of a tensor that forward is given, so that the text runs wherever the module does."""
        index = next((i for i, d in self._devices.items() if d == device.type), None)
        if index is None:
            raise Untraceable(f"{users_line()}: the device {device} is none of its inputs'")
        if index not in reads:
            reads.append(index)
        return f"{{{reads.index(index)}}}.device"

    def _index_text(self, index, reads):
        parts = index if isinstance(index, tuple) else (index,)
        texts = []
        for part in parts:
            if isinstance(part, slice):
                ends = [self.text(end, reads) if end is not None else "" for end in (part.start, part.stop, part.step)]
                texts.append(f"{ends[0]}:{ends[1]}" + (f":{ends[2]}" if ends[2] else ""))
            else:
                if isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8) and part.dim() > 0:
                    raise Untraceable(f"{users_line()}: indexing by a mask gives a shape that depends on numbers")
                texts.append(self.text(part, reads))
        return ", ".join(texts) + ("," if isinstance(index, tuple) and len(parts) == 1 else "")

    def call(self, name, args, kwargs, reads, func=None):
        """(text, the function's last name) of a call by the public name of a function."""
        kwargs = {k: v for k, v in kwargs.items() if not k.startswith("_") and not _is_usual(k, v)}
        if kwargs.get("dtype") is not None and args and isinstance(args[0], torch.Tensor) and args[0].dtype is kwargs["dtype"] and name in _SAME_TYPE:
            kwargs.pop("dtype")
        if name in _FACTORIES and "device" not in kwargs and "cpu" in self._devices.values():
            # A call that moves it to the module's device (type_as, to) changes nothing on the CPU: the graph has none.
            kwargs["device"] = torch.device("cpu")
        name = name.replace("torch.functional.", "torch.", 1)
        short = name.rpartition(".")[2]
        if name.startswith("torch.nn.functional.") and len(args) > 2:
            args, kwargs = _by_keyword(func, args, kwargs)

        def listed(arguments):
            texts = [self.text(a, reads) for a in arguments] + [f"{k}={self.text(v, reads)}" for k, v in kwargs.items()]
            return ", ".join(texts)

        if name.startswith("torch.Tensor."):
            member = name.removeprefix("torch.Tensor.")
            if member.endswith(".__get__"):
                member = member.removesuffix(".__get__")
                return f"{self.text(args[0], reads)}.{member}", member
            if member == "__getitem__":
                return f"{self.text(args[0], reads)}[{self._index_text(args[1], reads)}]", member
            if member in _BINARY and not kwargs:
                return f"{self.text(args[0], reads)} {_BINARY[member]} {self.text(args[1], reads)}", member
            if member.startswith("__r") and "__" + member[3:] in _BINARY and not kwargs:
                return f"{self.text(args[1], reads)} {_BINARY['__' + member[3:]]} {self.text(args[0], reads)}", "__" + member[3:]
            if member == "__neg__":
                return f"-{self.text(args[0], reads)}", member
            if member == "__invert__":
                return f"~{self.text(args[0], reads)}", member
            if member in _METHOD_OF_SIGN and len(args) == 2 and not kwargs:
                return f"{self.text(args[0], reads)} {_METHOD_OF_SIGN[member]} {self.text(args[1], reads)}", member
            if not isinstance(args[0], torch.Tensor):
                raise Untraceable(f"{users_line()}: {name} of a {type(args[0]).__name__}")
            return f"{self.text(args[0], reads)}.{member}({listed(args[1:])})", member
        return f"{name}({listed(args)})", short


def _by_keyword(func, args, kwargs):
    """Arguments behind the second by keyword, where the function says their names; those at their default are left out."""
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        return args, kwargs
    if len(args) > len(parameters) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters[:len(args)]):
        return args, kwargs
    named = {p.name: value for p, value in zip(parameters[2:], args[2:]) if not _same_number(value, p.default)}
    return args[:2], {**named, **{k: v for k, v in kwargs.items() if not _is_usual(k, v)}}


def _same_number(value, usual):
    return value is usual or type(value) is type(usual) and isinstance(value, (bool, int, float, str)) and value == usual


def _is_usual(keyword, value):
    return keyword in _USUAL and _same_number(value, _USUAL[keyword])


def name_of_operator(func):
    text = str(func)
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return "torch.ops." + text.replace("::", ".")
    name = getattr(func, "__name__", "")
    module = getattr(func, "__module__", None) or "torch"
    if module.startswith("torch._C._nn"):
        name = {"log_sigmoid": "logsigmoid"}.get(name, name)
        return f"torch.nn.functional.{name}" if hasattr(torch.nn.functional, name) else f"torch._C._nn.{name}"
    if name and getattr(torch, name, None) is func:
        return f"torch.{name}"
    if name == "__get__" or name == "__set__":
        owner = getattr(func, "__self__", None)
        return f"torch.Tensor.{getattr(owner, '__name__', '?')}.{name}"
    if name and getattr(torch.Tensor, name, None) is func:
        return f"torch.Tensor.{name}"
    return None
