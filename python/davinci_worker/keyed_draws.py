"""Random numbers on the host from the judge's own keyed generator (numerics/keyed_fill.h)."""

import ctypes

import torch
from torch.overrides import TorchFunctionMode

from davinci_worker import native

_MIN_KEYED = 1 << 14  # elements; smaller tensors come from torch's generator


def _fill(function, tensor, key):
    function(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.numel()), ctypes.c_uint64(key & 0xFFFFFFFFFFFFFFFF),
             ctypes.c_int(torch.get_num_threads()))
    return tensor


def keyed_uniform(tensor, key):
    """Overwrites a dense float32 host tensor (numerics/keyed_fill.h)."""
    return _fill(native.lib().dv_fill_uniform, tensor, key)


def keyed_normal(tensor, key):
    return _fill(native.lib().dv_fill_normal, tensor, key)


KEYED = {torch.rand: keyed_uniform, torch.randn: keyed_normal}
# Arguments, by name, with which a draw still is one of float32 on the host.
_PLAIN = {"dtype": (torch.float32,), "device": (None, "cpu", torch.device("cpu")), "requires_grad": (False,)}


class KeyedDraws(TorchFunctionMode):
    """Inside, large float32 ``torch.rand`` and ``torch.randn`` on the host come from the judge's own keyed generator.

    Same distribution, several times as fast, and not predictable from torch's generator state.
    """

    def __init__(self, seed):
        super().__init__()
        self._seed = seed
        self._drawn = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in KEYED and all(value in _PLAIN.get(name, ()) for name, value in kwargs.items()):
            size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
            try:
                dtype = kwargs.get("dtype", torch.get_default_dtype())
                tensor = torch.empty(size, dtype=dtype) if dtype is torch.float32 else None
            except TypeError:
                tensor = None
            if tensor is not None and tensor.numel() >= _MIN_KEYED:
                self._drawn += 1
                key = self._seed * 0x9E3779B97F4A7C15 + self._drawn
                return KEYED[function](tensor, key)
        return function(*args, **kwargs)
