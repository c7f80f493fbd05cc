import torch
import torch.nn as nn


class Model(nn.Module):
    """Relation scores: relu(Wx_i + Ux_j + b) averaged over j."""

    def __init__(self, d, h):
        super().__init__()
        self.W = nn.Linear(d, h, bias=False)
        self.U = nn.Linear(d, h, bias=True)

    def forward(self, x):
        left = self.W(x).unsqueeze(2)
        right = self.U(x).unsqueeze(1)
        return torch.relu(left + right).mean(dim=2)


def get_inputs():
    return [torch.randn(40, 48, 64)]


def get_init_inputs():
    return [64, 96]
