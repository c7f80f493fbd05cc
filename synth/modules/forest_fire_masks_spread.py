import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Tree, fire and ash as one-hot planes; fire spreads where fuel and wind-biased noise allow."""

    def __init__(self, wind):
        super().__init__()
        k = torch.tensor([[0.0, 0.4, 0.0], [0.4, 0.0, 0.4], [0.0, 0.4, 0.0]])
        k[1, 0] += wind
        self.register_buffer("kernel", k.view(1, 1, 3, 3))

    def forward(self, state, chance):
        tree = state == 1
        fire = state == 2
        heat = F.conv2d(fire.float().unsqueeze(1), self.kernel, padding=1).squeeze(1)
        ignite = tree & (chance < heat)
        out = torch.where(ignite, torch.full_like(state, 2), state)
        return torch.where(fire, torch.full_like(state, 3), out), ignite.sum(dim=(1, 2))


def get_inputs():
    return [torch.randint(0, 4, (10, 300, 300)), torch.rand(10, 300, 300)]


def get_init_inputs():
    return [0.3]
