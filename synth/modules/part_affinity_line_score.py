import torch
import torch.nn as nn


class Model(nn.Module):
    """Scores limb candidates: dot product of a sampled vector field with the limb's direction."""

    def __init__(self, min_dot=0.05):
        super().__init__()
        self.min_dot = min_dot

    def forward(self, field, start, end):
        # field (L, S, 2): vectors sampled along L limbs; start, end (L, 2)
        d = end - start
        length = torch.sqrt((d * d).sum(-1, keepdim=True) + 1e-8)
        unit = d / length
        dots = (field * unit[:, None, :]).sum(-1)
        good = (dots > self.min_dot).to(dots.dtype)
        penalty = torch.clamp(0.5 * 100.0 / length.squeeze(-1) - 1.0, max=0.0)
        return dots.mean(-1) + penalty, good.mean(-1)


def get_inputs():
    n = 21000
    return [torch.randn(n, 10, 2), torch.rand(n, 2) * 200, torch.rand(n, 2) * 200]


def get_init_inputs():
    return []
