import torch
import torch.nn as nn


class Model(nn.Module):
    """Fused add + norm as in inference engines: returns the normed states and the new residual stream."""

    def __init__(self, hidden: int, eps: float):
        super().__init__()
        self.variance_epsilon = eps
        self.scale = nn.Parameter(torch.full((hidden,), 0.9))

    def forward(self, delta, residual):
        residual = residual + delta
        mean_square = torch.mean(torch.square(residual), dim=-1, keepdim=True)
        normed = residual / torch.sqrt(mean_square + self.variance_epsilon)
        return normed * self.scale, residual


def get_inputs():
    return [torch.randn(1500, 1024), torch.randn(1500, 1024)]


def get_init_inputs():
    return [1024, 1e-5]
