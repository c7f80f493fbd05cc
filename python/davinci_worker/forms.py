"""Other honest forms of a reference in its own precision: another algorithm of the library, another memory format, sums in parts.

What they answer is as right as what the reference answers, and a candidate may be any of them. They cost a forward each, so they are
asked only where an answer is in doubt (nearby.py).
"""

import contextlib

import torch

from davinci_worker.rounding import EagerMode

_ATEN = torch.ops.aten
_PARTS = (5, 8, 3, 16, 7, 32, 2, 11)  # one after the other: where a partial product overflows depends on where parts begin
_LONG = 64  # a shorter sum is not taken apart
_HALVES = (torch.float16, torch.bfloat16)


class InParts(EagerMode):
    """While active, sums, products of matrices and scans are worked out part by part, as a kernel of several blocks does."""

    def __init__(self, parts):
        super().__init__()
        self._parts = parts

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        x = args[0] if args else None
        if not isinstance(x, torch.Tensor) or not x.is_floating_point() or x.dtype in _HALVES or kwargs:
            return func(*args, **kwargs)
        if func in (_ATEN.mm.default, _ATEN.bmm.default) and x.shape[-1] >= _LONG:
            return self._product(func, x, args[1])
        if func is _ATEN.addmm.default and args[1].shape[-1] >= _LONG:
            return self._product(_ATEN.mm.default, args[1], args[2]) + x
        if func is _ATEN.sum.dim_IntList and args[1] and all(x.shape[d] >= _LONG for d in args[1]):
            return sum(func(part, *args[1:]) for part in x.chunk(self._parts, args[1][0]))
        if func in (_ATEN.cumsum.default, _ATEN.cumprod.default) and x.dim() and x.shape[args[1]] >= _LONG:
            return self._scan(func, x, args[1])
        return func(*args, **kwargs)

    def _product(self, func, left, right):
        return sum(func(a.contiguous(), b.contiguous()) for a, b in zip(left.chunk(self._parts, -1), right.chunk(self._parts, -2)))

    def _scan(self, func, x, along):
        join = torch.add if func is _ATEN.cumsum.default else torch.mul
        parts = [func(part, along) for part in x.chunk(self._parts, along)]
        for before, part in zip(parts, parts[1:]):
            part.copy_(join(part, before.narrow(along, -1, 1)))
        return torch.cat(parts, along)


@contextlib.contextmanager
def _other_library():
    """Of convolutions, attention and recurrent networks: cuDNN picks by trying, on the host oneDNN is left out."""
    if torch.cuda.is_available():
        cudnn = torch.backends.cudnn
        before, switches = cudnn.benchmark, [torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled()]
        cudnn.benchmark = not before
        torch.backends.cuda.enable_flash_sdp(False)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        try:
            yield
        finally:
            cudnn.benchmark = before
            torch.backends.cuda.enable_flash_sdp(switches[0])
            torch.backends.cuda.enable_mem_efficient_sdp(switches[1])
        return
    before, flash = torch._C._get_mkldnn_enabled(), torch.backends.cuda.flash_sdp_enabled()
    torch._C._set_mkldnn_enabled(False)
    torch._C._set_sdp_use_flash(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)
        torch._C._set_sdp_use_flash(flash)


def _channels_last(tensor):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats[tensor.dim()]) if tensor.dim() in formats else tensor


def _as_it_is(tensor):
    return tensor


def of(tensors, multiplies, k):
    """[(context, what becomes of the inputs)] of the forms that may differ from a reference called with ``tensors``, in round ``k``; the first
    is its own."""
    found = [(contextlib.nullcontext, _as_it_is), (lambda: InParts(_PARTS[k % len(_PARTS)]), _as_it_is)]
    if multiplies:
        found.append((_other_library, _as_it_is))
    if any(t.dim() in (4, 5) for t in tensors):
        found.append((contextlib.nullcontext, _channels_last))
    return found
