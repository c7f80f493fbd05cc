import torch
import torch.nn as nn


class Model(nn.Module):
    """Hadamard product of two projections, LayerNorm without affine, ReLU, sum over a group of features."""

    def __init__(self, d_left, d_right, d_joint, k):
        super().__init__()
        self.u = nn.Linear(d_left, d_joint * k)
        self.v = nn.Linear(d_right, d_joint * k)
        self.norm = nn.LayerNorm(d_joint * k, elementwise_affine=False)
        self.k = k

    def forward(self, left, right):
        joint = self.norm(self.u(left) * self.v(right)).relu()
        return joint.unflatten(1, (-1, self.k)).sum(-1)


def get_inputs():
    return [torch.randn(400, 128), torch.randn(400, 96)]


def get_init_inputs():
    return [128, 96, 120, 4]
