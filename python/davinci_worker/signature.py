"""What a kernel was verified with, in the words that the guard of an export compares (davinci_runtime/guard.py)."""

import torch

from davinci_worker import packing


_DEEPEST = 4  # objects within objects


def of(value, tensors, depth=0):
    """A skeleton and its tensors as JSON: {"kind": "tensor" | "list" | "dict" | "map" | "value" | "named" | "object" | "other", …}."""
    if isinstance(value, packing.Slot):
        return _tensor(tensors[value.index])
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        return {"kind": "list", "type": type(value).__name__, "items": [of(item, tensors, depth) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"kind": "dict", "items": {key: of(item, tensors, depth) for key, item in value.items()}}
    if isinstance(value, dict):
        return {"kind": "map", "items": [[of(key, tensors, depth), of(item, tensors, depth)] for key, item in value.items()]}
    if value is None or isinstance(value, (bool, int, str)) or isinstance(value, float) and abs(value) < float("inf"):
        return {"kind": "value", "value": value}
    if isinstance(value, (torch.dtype, torch.device)):
        return {"kind": "named", "type": type(value).__name__, "name": str(value)}
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):  # a config object
        return _object(value, tensors, depth)
    return {"kind": "other"}  # matches nothing


def _object(value, tensors, depth):
    if depth == _DEEPEST:
        return {"kind": "other"}
    kind = type(value)
    return {"kind": "object", "type": f"{kind.__module__}.{kind.__qualname__}",
            "items": {key: of(item, tensors, depth + 1) for key, item in vars(value).items()}}


def _tensor(tensor):
    return {"kind": "tensor", "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "stride": list(tensor.stride())}


def _call(arguments, tensors):
    """Of a call, as it was made."""
    positional, keywords = packing.split(arguments)
    return {"positional": [of(item, tensors) for item in positional], "keywords": {key: of(item, tensors) for key, item in keywords.items()}}


def case(built, drawn, mode):
    """Inputs, constructor's arguments, state and modes of one verified shape. ``mode``: "train" or "eval" where the judge has set it, else modules
    are in the mode in which they were constructed."""
    model = built.model
    return {"inputs": _call(drawn.skeleton, drawn.tensors), "init": _call(packing.from_blob(built.init), []),
            "state": [[name, str(t.dtype).removeprefix("torch."), list(t.shape)]
                      for name, t in (*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False))],
            "training": bool(model.training), "mode": mode,
            "other_mode": [name for name, part in model.named_modules() if part.training != model.training]}
