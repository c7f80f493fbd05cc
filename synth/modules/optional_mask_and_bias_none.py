from typing import Optional
import torch
import torch.nn as nn


class Model(nn.Module):
    """Masked mean pooling, then a projection; mask and bias may be missing."""

    def __init__(self, dim: int, out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, out) * dim ** -0.5)

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None, bias: Optional[torch.Tensor] = None):
        if mask is None:
            pooled = x.mean(dim=1)
        else:
            m = mask.to(x.dtype).unsqueeze(-1)
            pooled = (x * m).sum(dim=1) / m.sum(dim=1).clamp(min=1.0)
        out = pooled @ self.weight
        if bias is not None:
            out = out + bias
        return out


def get_inputs():
    return [torch.randn(64, 100, 256), torch.rand(64, 100) > 0.3]


def get_init_inputs():
    return [256, 90]
