"""What rounding alone does to a float64 computation, sampled: every intermediate result is moved by about its last place
(Monte Carlo arithmetic, D. S. Parker, 1997).

Elsewhere the reference in its own precision, held against float64, shows what rounding costs. A float64 reference is its own
truth, and moving its inputs is no substitute: where a polynomial has a double root its value hardly depends on the input, and
still its summands cancel.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from davinci_worker import distributions


_SCANS = {torch.ops.aten.cumsum, torch.ops.aten.cumprod, torch.ops.aten.logcumsumexp, torch.ops.aten.cumsum_, torch.ops.aten.cumprod_}


class EagerMode(TorchDispatchMode):
    """Seen by torch.compile or not is all the same here, and hiding from it imports all of it: 2 s."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False


class LongestScan(EagerMode):
    """While active, ``length`` is the size of the longest dimension scanned so far: an honest scan may go along it one by one."""

    length = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.overloadpacket in _SCANS:
            scanned, along = args[0], kwargs.get("dim", args[1] if len(args) > 1 else 0)
            self.length = max(self.length, scanned.shape[along] if scanned.dim() else 1)
        return func(*args, **kwargs)


class RoundingNoise(EagerMode):
    """While active, results of type float64 are moved. Views, integers, zeros, NaN and infinities stay what they are, and so
    does the state of torch's own generators."""

    def __init__(self, seed):
        super().__init__()
        self._seed = seed

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        values = result if isinstance(result, (tuple, list)) else (result,)
        for declared, value in zip(func._schema.returns, values):
            alias = declared.alias_info
            if alias is None or alias.is_write:
                for tensor in value if isinstance(value, (tuple, list)) else (value,):
                    self._move(tensor)
        return result

    def _move(self, tensor):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype is not torch.float64 or tensor.numel() == 0:
            return
        self._seed += 1
        noise = distributions.uniform(tensor.shape, self._seed, tensor.device).sub_(0.5)
        noise.add_(noise.sign(), alpha=0.5)  # nothing stays where it is: a quarter to a half of eps, up or down
        tensor.addcmul_(tensor, noise.double(), value=torch.finfo(torch.float64).eps / 2)
