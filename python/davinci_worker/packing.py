"""Turns nested Python values holding tensors into (skeleton, tensors) and back.

A skeleton is the same value with each tensor replaced by a ``Slot``; it is pickled by the oracle and unpickled by a
runner. Nothing a runner wrote is ever unpickled: its outputs are described as JSON and read as raw memory.

A complex tensor is handled as the real one over the same memory, with a last dimension of 2, and made complex again where it
is handed to a forward: inputs, state and outputs are drawn, moved and compared as real and imaginary parts.
"""

import base64
import math
import pickle
import typing

import torch


DTYPES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int8: "i8", torch.uint8: "u8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.bool: "bool",
}
BY_NAME = {name: dtype for dtype, name in DTYPES.items()}
_COMPLEX = (torch.complex64, torch.complex128)


def why_not(tensor):
    """What is wrong with a tensor that cannot be judged, and what to write instead; None for one that can."""
    if torch.nn.parameter.is_lazy(tensor):
        return "has no values before the first call; give the module its sizes instead of making it lazy"
    if tensor.is_nested:
        return "is nested; only dense tensors are supported, such as its values and offsets"
    if tensor.is_quantized or tensor.layout is not torch.strided:
        return f"is {'quantized' if tensor.is_quantized else tensor.layout}; only dense tensors are supported, such as its parts"
    if tensor.dtype not in DTYPES and tensor.dtype not in _COMPLEX:
        return (f"is of type {tensor.dtype}; only float16, bfloat16, float32, float64, complex64, complex128, int8 to int64, uint8 and "
                "bool are supported")
    return None


def real(tensor):
    """A complex tensor as its real and imaginary parts, in the same memory; any other as it is."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


class Slot:
    """Placeholder of tensor number ``index``, which is ``is_complex`` for a forward."""

    __slots__ = ("index", "is_complex")

    def __init__(self, index, is_complex=False):
        self.index = index
        self.is_complex = is_complex

    def __reduce__(self):
        return (Slot, (self.index, self.is_complex))

    def of(self, tensors):
        tensor = tensors[self.index]
        return torch.view_as_complex(tensor) if self.is_complex else tensor


def flatten(value, tensors):
    if isinstance(value, torch.Tensor):
        tensors.append(real(value))
        return Slot(len(tensors) - 1, value.is_complex())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        if "__new__" in vars(type(value)) and "_fields" not in vars(type(value)):
            raise TypeError(f"a {type(value).__name__} is more than its parts; pass the tensors that it is made of")
        return type(value)(*(flatten(v, tensors) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(flatten(v, tensors) for v in value)
    if isinstance(value, dict):
        return {k: flatten(v, tensors) for k, v in value.items()}
    return value


def with_leaves(value, other):
    """The same nested value with ``other(leaf)`` for each leaf."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(with_leaves(v, other) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(with_leaves(v, other) for v in value)
    if isinstance(value, dict):
        return {k: with_leaves(v, other) for k, v in value.items()}
    return other(value)


def unflatten(skeleton, tensors):
    return with_leaves(skeleton, lambda leaf: leaf.of(tensors) if isinstance(leaf, Slot) else leaf)


class Arguments(typing.NamedTuple):
    """Of a call that has arguments by position and by keyword."""

    positional: list
    keywords: dict


def split(arguments):
    """(positional, by keyword) of a list of positional arguments, a dict of those by keyword, or ``Arguments``."""
    if type(arguments) is Arguments:
        return arguments
    return ((), arguments) if type(arguments) is dict else (arguments, {})


def called(function, arguments):
    positional, keywords = split(arguments)
    return function(*positional, **keywords)


def to_blob(value):
    advice = "get_inputs() and get_init_inputs() return tensors, numbers, strings, and tuples, lists and dicts of them"
    try:
        text = pickle.dumps(value, protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"{error}; {advice}") from None
    if b"davinci_task" in text:
        raise TypeError(f"an object of a class or function of the task file, which the candidate cannot see; {advice}")
    return base64.b64encode(text).decode()


def from_blob(blob):
    return pickle.loads(base64.b64decode(blob))


def span_elements(shape, stride):
    """Elements between the first and the last one addressed, inclusive; 0 for an empty tensor."""
    span = 1
    for size, step in zip(shape, stride):
        if size == 0:
            return 0
        span += (size - 1) * step
    return span


def coordinates(at, shape):
    """An index of the elements with these numbers, a tensor of int64 (torch.unravel_index imports sympy: 0.5 to 3 s)."""
    index = []
    for size in reversed(shape):
        index.append(at % size)
        at = at // size
    return tuple(reversed(index))


def in_memory(tensor):
    """The elements in the order of memory, in one dimension; None where gaps lie between them."""
    span = span_elements(tensor.shape, tensor.stride())
    return tensor.as_strided((span,), (1,), tensor.storage_offset()) if span == tensor.numel() else None


def laid_out(value, contiguous):
    """The same value with the tensors contiguous that must be; ``contiguous``: an iterator over what ``describe`` would list, the
    number of elements of those, None for others."""
    if isinstance(value, torch.Tensor):
        return in_order(value, next(contiguous, None))
    if isinstance(value, (list, tuple)):
        parts = [laid_out(v, contiguous) for v in value]
        same = all(a is b for a, b in zip(parts, value))
        return value if same else type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        parts = {k: laid_out(v, contiguous) for k, v in value.items()}
        return value if all(parts[k] is v for k, v in value.items()) else parts
    if isinstance(value, (bool, int, float)):
        next(contiguous, None)
    return value


def in_order(tensor, elements):
    """Contiguous, where it must be and has as many elements as it should (a forged shape may have any). The methods are torch's: a
    tensor may carry others of its own."""
    plain = torch.Tensor
    if type(tensor) is not plain or tensor.layout is not torch.strided:
        return tensor
    parts = 1
    if tensor.dtype in _COMPLEX:
        tensor, parts = plain.resolve_conj(tensor), 2
    if elements is None or parts * plain.numel(tensor) != elements:
        return tensor
    return tensor if plain.is_contiguous(tensor) else plain.contiguous(tensor)


def describe(value, out):
    """Structure of an output as a string (T a tensor, C a complex one, N a number); tensors are appended to ``out`` as JSON-able descriptors."""
    kind = type(value)
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_quantized:
            return f"unsupported:{value.layout}"
        name, value = "C" if value.is_complex() else "T", real(value)
        out.append({
            "ptr": value.data_ptr(), "dtype": DTYPES.get(value.dtype, str(value.dtype)),
            "shape": list(value.shape), "stride": list(value.stride()), "device": value.device.type,
            "plain": kind is torch.Tensor or kind is torch.nn.Parameter,
        })
        return name
    if isinstance(value, (list, tuple)):
        name = "list" if isinstance(value, list) else "tuple"
        return name + "(" + ",".join(describe(v, out) for v in value) + ")"
    if isinstance(value, dict):
        return "dict(" + ",".join(f"{k}:{describe(v, out)}" for k, v in value.items()) + ")"
    if isinstance(value, (bool, int, float)):
        # A Python number is judged like a 0-d tensor of its kind.
        tensor = torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.int64)
        number = float(value)
        out.append({
            "value": number if math.isfinite(number) else str(number),  # JSON has neither NaN nor infinity
            "dtype": DTYPES[tensor.dtype], "shape": [], "stride": [], "device": "cpu", "plain": True,
        })
        return "N"
    if value is None:
        return "None"
    return f"unsupported:{kind.__name__}"
