import torch
import torch.nn as nn


class _Affine_:
    """not a module: a small callable holding tensors' shapes"""

    def __init__(self, _axis):
        self._axis = _axis

    def __call__(self, _t, _w, _b):
        return _t * _w.unsqueeze(self._axis) + _b.unsqueeze(self._axis)


class Model(nn.Module):
    def __init__(self, _n):
        super().__init__()
        self._w = nn.Parameter(torch.rand(_n) + 0.5)
        self._b = nn.Parameter(torch.rand(_n) - 0.5)
        self.__affine = _Affine_(-1)

    def forward(self, _x):
        _y = self.__affine(_x, self._w, self._b)
        _z = torch.relu6(_y) if hasattr(torch, "relu6") else _y.clamp(0, 6)
        return _z - _z.mean(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(24, 60, 900)]


def get_init_inputs():
    return [60]
