"""What a reference returns, seen as a list of tensors: how many numbers, in whose memory, and whether two of them are the same."""

import math

import torch

from davinci_worker import packing

_PART = 1 << 24  # elements


def _numbers_to_tensors(value, number_type):
    if isinstance(value, (bool, int, float)):
        return torch.tensor(value, dtype=number_type if isinstance(value, float) else torch.int64)
    if isinstance(value, (list, tuple)):
        return [_numbers_to_tensors(v, number_type) for v in value]
    if isinstance(value, dict):
        return {k: _numbers_to_tensors(v, number_type) for k, v in value.items()}
    return value


def holds_array(value):
    """Is a numpy array where a tensor should be?"""
    if isinstance(value, (list, tuple, dict)):
        return any(map(holds_array, value.values() if isinstance(value, dict) else value))
    return (type(value).__module__, type(value).__name__) == ("numpy", "ndarray")


def flat(value, number_type=torch.float64):
    """Tensors; Python floats as ``number_type``."""
    tensors = []
    packing.flatten(_numbers_to_tensors(value, number_type), tensors)
    return tensors


def numel(value):
    return sum(t.numel() for t in flat(value))


def _storages(tensors):
    return {t.untyped_storage().data_ptr() for t in tensors if t.layout is torch.strided and t.numel()}


def lie_in(output, tensors):
    """Of each: does it lie in the memory of one of the tensors?"""
    lenders = _storages(tensors)
    return [bool(_storages([t]) & lenders) for t in flat(output)]


def of_module(model, state):
    """Parameters, buffers and attributes."""
    own = [t for _, t in state]
    for module in model.modules() if isinstance(model, torch.nn.Module) else ():
        own += [value for value in vars(module).values() if isinstance(value, torch.Tensor)]
    return own


def begins(output):
    """A number for each: the same for those that begin at one address."""
    first = {}
    return [first.setdefault(t.data_ptr() or -i, i) for i, t in enumerate(flat(output))]


def regions(output):
    """A number for each: the same for those whose memory overlaps, or may where they are not contiguous."""
    tensors = flat(output)
    spans = [(t.data_ptr(), t.data_ptr() + packing.span_elements(t.shape, t.stride()) * t.element_size()) for t in tensors]
    numbers, end, number = [-1 - i for i in range(len(tensors))], 0, -1
    for i in sorted((i for i, t in enumerate(tensors) if t.numel()), key=lambda i: spans[i]):
        number = number if spans[i][0] < end else i
        numbers[i], end = number, max(end, spans[i][1])
    return numbers


def _parts(tensor):
    """In pieces, so that what is made of each takes little memory."""
    return tensor.reshape(-1).split(_PART) if tensor.numel() else ()


def same(a, b):
    """Equal up to the noise of reordered sums; NaN equals NaN."""
    for x, y in zip(flat(a), flat(b)):
        if torch.equal(x, y):
            continue
        if not x.is_floating_point():
            return False
        scale = max((part.abs().nan_to_num(0, 0, 0).max().item() for part in _parts(x)), default=0.0)
        if not all(torch.allclose(p.double(), q.double(), rtol=1e-3, atol=1e-4 * scale + math.ulp(0.0), equal_nan=True)
                   for p, q in zip(_parts(x), _parts(y))):
            return False
    return True
