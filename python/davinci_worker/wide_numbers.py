"""Numbers that a float64 twin would make in lower precision: what its forward casts, and what it makes of no input at all
(``torch.arange(n).float()``, ``dtype=torch.float32``). With angles or positions rounded like the reference's, or every step of what
it does in bfloat16, truth would be no truth, and an honest kernel that rounds elsewhere, or not at all, would be wrong.
"""

import torch
from torch.utils._pytree import tree_map

from davinci_worker.rounding import EagerMode


class WideNumbers(EagerMode):
    """While active, operators that are asked for float32 answer in float64, and results of lower precision that are no views are
    widened: what is cast to half precision is rounded once, and what follows is not."""

    _LOWER = (torch.float32, torch.float16, torch.bfloat16)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.ops.aten.view.dtype:
            raise TypeError("the bits of a wide number are others")
        if kwargs.get("dtype") is torch.float32:
            kwargs = {**kwargs, "dtype": torch.float64}
        result = func(*args, **kwargs)
        if func._schema.is_mutable or any(r.alias_info is not None for r in func._schema.returns):
            return result
        return tree_map(lambda value: value.double() if isinstance(value, torch.Tensor) and value.dtype in self._LOWER else value, result)
