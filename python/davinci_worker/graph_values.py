"""Tensors within arguments and results of a module that is recorded, and what a graph says of one."""

import torch

from davinci_worker import sizes
from davinci_worker.graph_refusal import Untraceable


def leaves(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, slice):
        yield from leaves((value.start, value.stop, value.step))


def paths(value, prefix=""):
    """(text behind the result's name, leaf) of a nested result."""
    if isinstance(value, torch.Tensor):
        yield prefix, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from paths(item, f"{prefix}[{i}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, (str, int)):
                raise Untraceable(f"a result with the key {key!r}")
            yield from paths(item, f"{prefix}[{key!r}]")
    elif value is not None and not isinstance(value, (bool, int, float, str, torch.Size, torch.dtype, torch.device)):
        raise Untraceable(f"a result that holds a {type(value).__name__}")


def described(tensor, device):
    kind = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided:
        kind = f"sparse {kind}"
    elif device is not None and tensor.device.type != device:
        kind = f"{tensor.device.type} {kind}"
    return {"shape": [sizes.of(size) for size in tensor.shape], "dtype": kind}


def same_storage(a, b):
    try:
        return a.untyped_storage()._cdata == b.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return False
