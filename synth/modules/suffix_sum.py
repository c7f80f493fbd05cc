import torch
import torch.nn as nn


class Model(nn.Module):
    """Sum of everything from here to the end of the row."""

    def __init__(self):
        super().__init__()

    def forward(self, rewards: torch.Tensor) -> torch.Tensor:
        return rewards.flip(-1).cumsum(-1).flip(-1)


episodes, steps = 450, 1500


def get_inputs():
    return [torch.randn(episodes, steps)]


def get_init_inputs():
    return []
