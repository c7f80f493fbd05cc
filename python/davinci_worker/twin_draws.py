"""Random numbers of a float64 twin: those that the reference draws in its own precision, so that both compute one thing.

A generator gives other numbers for float64 than for float32. With other noise in it truth would say only how large the noise is, and a
candidate without any would be as good as the reference.
"""

import torch
from torch.utils._pytree import tree_map

from davinci_worker.rounding import EagerMode


class TwinDraws(EagerMode):
    """While active, random operators on float64 run in ``precision``, and what they draw is widened."""

    def __init__(self, precision):
        super().__init__()
        self._precision = precision

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in func.tags or not self._is_wide(args, kwargs):
            return func(*args, **kwargs)
        if func is torch.ops.aten.native_dropout.default:
            values, share = args[0], args[1]
            _, kept = func(values.to(self._precision), *args[1:], **kwargs)
            return values * kept / (1 - share), kept
        drawn = func(*tree_map(self._narrow, args), **tree_map(self._narrow, kwargs))
        if func._schema.is_mutable:  # in place: the narrow copy was filled
            return args[0].copy_(drawn)
        return tree_map(lambda value: value.double() if isinstance(value, torch.Tensor) and value.dtype is self._precision else value, drawn)

    def _narrow(self, value):
        if isinstance(value, torch.Tensor) and value.dtype is torch.float64:
            return value.to(self._precision)
        return self._precision if value is torch.float64 else value

    @staticmethod
    def _is_wide(args, kwargs):
        return any(value is torch.float64 or isinstance(value, torch.Tensor) and value.dtype is torch.float64
                   for value in (*args, *kwargs.values()))
