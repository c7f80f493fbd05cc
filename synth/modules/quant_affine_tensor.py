import torch
import torch.nn as nn


class Model(nn.Module):
    """Asymmetric per-channel fake quantisation with scale and zero point (unsigned grid)."""

    def __init__(self, num_bits: int = 8, axis: int = 1):
        super().__init__()
        self.qmin = 0
        self.qmax = (1 << num_bits) - 1
        self.axis = axis

    def forward(self, x):
        dims = [d for d in range(x.dim()) if d != self.axis]
        lo = torch.amin(x, dim=dims, keepdim=True).clamp(max=0.0)
        hi = torch.amax(x, dim=dims, keepdim=True).clamp(min=0.0)
        scale = ((hi - lo) / (self.qmax - self.qmin)).clamp(min=1e-8)
        zero_point = (self.qmin - torch.round(lo / scale)).clamp(self.qmin, self.qmax)
        q = torch.clamp(torch.round(x / scale) + zero_point, self.qmin, self.qmax)
        return (q - zero_point) * scale


def get_inputs():
    return [torch.randn(8, 50, 60, 60)]


def get_init_inputs():
    return [6, 1]
