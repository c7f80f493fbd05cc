import torch
import torch.nn as nn


class Model(nn.Module):
    """Sequence projection, sigmoid, cumulative mean over time, ReLU of the difference to the present."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.p = nn.Linear(d_in, d_out)

    def forward(self, x):
        h = torch.sigmoid(self.p(x))
        steps = torch.arange(1, x.size(1) + 1, dtype=h.dtype, device=h.device).view(1, -1, 1)
        past = torch.cumsum(h, dim=1) / steps
        return torch.relu(h - past)


def get_inputs():
    return [torch.randn(8, 160, 64)]


def get_init_inputs():
    return [64, 144]
