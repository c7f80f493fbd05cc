"""What a kernel was verified with, in the words that the guard of an export compares (davinci_runtime/guard.py)."""

import torch

from davinci_worker import arguments, packing, source


def of(value, tensors):
    """A skeleton and its tensors as JSON: {"kind": "tensor" | "list" | "dict" | "value" | "other", …}."""
    if isinstance(value, packing.Slot):
        return _tensor(tensors[value.index])
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        return {"kind": "list", "type": type(value).__name__, "items": [of(item, tensors) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"kind": "dict", "items": {key: of(item, tensors) for key, item in value.items()}}
    if value is None or isinstance(value, (bool, int, str)) or isinstance(value, float) and abs(value) < float("inf"):
        return {"kind": "value", "value": value}
    return {"kind": "other"}  # matches nothing


def _tensor(tensor):
    return {"kind": "tensor", "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "stride": list(tensor.stride())}


def case(built, drawn, factory):
    """Inputs, constructor's arguments, state and mode of one verified shape."""
    return {"inputs": of(arguments.positional(source.callee(built.model), drawn.skeleton), drawn.tensors),
            "init": of(arguments.positional(factory, packing.from_blob(built.init)), []),
            "state": [[name, str(t.dtype).removeprefix("torch."), list(t.shape)]
                      for name, t in (*built.model.named_parameters(remove_duplicate=False), *built.model.named_buffers(remove_duplicate=False))],
            "training": bool(built.model.training)}
