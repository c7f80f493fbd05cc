import torch
import torch.nn as nn


class Model(nn.Module):
    """SwiGLU of a packed (even, odd) layout."""

    def __init__(self, alpha: float = 1.702, limit: float = 7.0):
        super().__init__()
        self.alpha = alpha
        self.limit = limit

    def forward(self, x):
        glu, lin = x[..., ::2], x[..., 1::2]
        glu = glu.clamp(max=self.limit)
        lin = lin.clamp(-self.limit, self.limit)
        return glu * torch.sigmoid(self.alpha * glu) * (lin + 1)


def get_inputs():
    return [torch.randn(600, 2880) * 3]


def get_init_inputs():
    return [1.702, 5.0]
