import torch
import torch.nn as nn


class Model(nn.Module):
    """LAMB, the trust ratio taken for each row of the matrix."""

    def __init__(self, lr, wd):
        super().__init__()
        self.lr = lr
        self.wd = wd

    def forward(self, w, m, v):
        r = m / (v.sqrt() + 1e-6) + self.wd * w
        w_norm = w.norm(dim=1, keepdim=True)
        r_norm = torch.linalg.vector_norm(r, dim=1, keepdim=True)
        ratio = torch.where((w_norm > 0) & (r_norm > 0), w_norm / r_norm, torch.ones_like(w_norm))
        return w - self.lr * ratio * r


def get_inputs():
    return [torch.randn(800, 1000), torch.randn(800, 1000), torch.rand(800, 1000)]


def get_init_inputs():
    return [1e-3, 0.01]
