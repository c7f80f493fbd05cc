"""Indices below zero, which count from the end. The last step of a sequence that has none is one of them, ``x[rows, lengths - 1]``: finite by accident."""

import torch

from davinci_worker.rounding import EagerMode


class FromTheEnd(EagerMode):
    """While active, ``count`` is how many elements and slices were taken by an index below zero."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.select.int:
            self.count += args[2] < 0
        elif func in (torch.ops.aten.index.Tensor, torch.ops.aten.index_put.default, torch.ops.aten.index_put_.default):
            self.count += sum(int((i < 0).sum()) for i in args[1] if i is not None and i.dtype is not torch.bool)
        return func(*args, **(kwargs or {}))
