import torch
import torch.nn as nn


class Model(nn.Module):
    """GroupNorm on (B*T, C), flattened from (B, T, C), and Swish with torch.mul."""

    def __init__(self, c_in, c_out, g):
        super().__init__()
        self.dense = nn.Linear(c_in, c_out)
        self.gn = nn.GroupNorm(g, c_out, eps=1e-6, affine=False)

    def forward(self, x):
        b, t, _ = x.shape
        h = self.gn(self.dense(x).reshape(b * t, -1))
        h = torch.mul(h, torch.sigmoid(h))
        return h.reshape(b, t, -1)


def get_inputs():
    return [torch.randn(6, 144, 96)]


def get_init_inputs():
    return [96, 240, 12]
