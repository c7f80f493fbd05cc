"""What rounding alone does to a float64 computation, sampled: every intermediate result is moved by about its last place
(Monte Carlo arithmetic, D. S. Parker, 1997).

Elsewhere the reference in its own precision, held against float64, shows what rounding costs. A float64 reference is its own
truth, and moving its inputs is no substitute: where a polynomial has a double root its value hardly depends on the input, and
still its summands cancel.
"""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from davinci_worker import distributions


_ATEN = torch.ops.aten
_SCANS = {_ATEN.cumsum, _ATEN.cumprod, _ATEN.logcumsumexp, _ATEN.cumsum_, _ATEN.cumprod_}
_MULTIPLIED = {_ATEN.prod, _ATEN.cumprod}
# What sums up one result, or one of several, of how many of its first argument's numbers.
_SUMS = {_ATEN.sum, _ATEN.mean, _ATEN.var, _ATEN.var_mean, _ATEN.std, _ATEN.std_mean, _ATEN.linalg_vector_norm, _ATEN.norm, _ATEN.logsumexp}
_NORMS = {_ATEN.native_layer_norm: lambda args: math.prod(args[1]), _ATEN.native_group_norm: lambda args: args[4] * args[5] // args[6],
          _ATEN.native_batch_norm: lambda args: args[0].numel() // max(1, args[0].shape[1])}


class EagerMode(TorchDispatchMode):
    """Seen by torch.compile or not is all the same here, and hiding from it imports all of it: 2 s."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False


class LongestLoop(EagerMode):
    """While active, ``scan`` is the size of the longest dimension scanned so far, ``total`` the most numbers that were summed up into
    one: an honest kernel may go through either one by one."""

    def __init__(self):
        super().__init__()
        self.scan = self.total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        operator = func.overloadpacket
        if operator in _SCANS:
            along = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            self.scan = max(self.scan, args[0].shape[along] if args[0].dim() else 1)
        elif operator in _SUMS:
            one = result[0] if isinstance(result, tuple) else result
            self.total = max(self.total, args[0].numel() // max(1, one.numel()))
        elif operator in _NORMS:
            self.total = max(self.total, _NORMS[operator](args))
        return result


class PartialProducts(EagerMode):
    """While active, ``overflow`` becomes true where a product along a dimension, or a scan of products, has a range of factors whose own
    product lies outside of what fp32 holds: which of those a kernel works out depends on where its parts begin, and what overflows there
    meets a zero elsewhere."""

    _MOST = 126.0  # powers of two

    def __init__(self):
        super().__init__()
        self.overflow = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket in _MULTIPLIED and args[0].is_floating_point() and args[0].numel():
            along = (kwargs or {}).get("dim", args[1] if len(args) > 1 else None)
            factors = args[0].reshape(-1) if along is None or args[0].dim() == 0 else args[0].movedim(along, -1)
            power = factors.abs().float().log2().nan_to_num(0, 0, 0).double().cumsum(-1)  # zeros, which end a range, may lie outside of it
            highest, lowest = power.cummax(-1).values, power.cummin(-1).values
            self.overflow = self.overflow or bool(((power - lowest > self._MOST) | (highest - power > self._MOST)).any())
        return func(*args, **(kwargs or {}))


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
