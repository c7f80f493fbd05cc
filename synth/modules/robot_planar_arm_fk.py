import torch
import torch.nn as nn


class Model(nn.Module):
    """Forward kinematics of a planar arm: joint angles to the positions of all links and the tool."""

    def __init__(self, lengths):
        super().__init__()
        self.register_buffer("lengths", torch.tensor(lengths))

    def forward(self, q, target):
        heading = torch.cumsum(q, dim=-1)
        x = torch.cumsum(self.lengths * heading.cos(), dim=-1)
        y = torch.cumsum(self.lengths * heading.sin(), dim=-1)
        err = torch.sqrt((x[:, -1] - target[:, 0]) ** 2 + (y[:, -1] - target[:, 1]) ** 2)
        return torch.stack((x, y), dim=-1), err


def get_inputs():
    return [torch.randn(33000, 6), torch.randn(33000, 2)]


def get_init_inputs():
    return [[0.5, 0.4, 0.35, 0.25, 0.2, 0.1]]
