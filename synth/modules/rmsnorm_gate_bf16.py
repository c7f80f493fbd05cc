import torch
import torch.nn as nn


class Model(nn.Module):
    """Gated RMS norm used behind state-space layers: norm(x * silu(z)) * weight, statistics in fp32."""

    def __init__(self, d: int, eps: float = 1e-5, norm_before_gate: bool = False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d, dtype=torch.bfloat16))
        self.eps = eps
        self.norm_before_gate = norm_before_gate

    def _norm(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)

    def forward(self, x, z):
        dtype = x.dtype
        x, z = x.float(), z.float()
        if self.norm_before_gate:
            y = self._norm(x) * nn.functional.silu(z)
        else:
            y = self._norm(x * nn.functional.silu(z))
        return y.to(dtype) * self.weight


def get_inputs():
    return [torch.randn(4, 300, 960, dtype=torch.bfloat16), torch.randn(4, 300, 960, dtype=torch.bfloat16)]


def get_init_inputs():
    return [960, 1e-5, False]
