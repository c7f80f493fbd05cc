import torch
import torch.nn as nn


class Model(nn.Module):
    """Log-probability of the chosen action in every state."""

    def __init__(self):
        super().__init__()

    def forward(self, log_probs, actions):
        return log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def get_init_inputs():
    return []


def get_inputs():
    return [torch.randn(120, 80, 64), torch.randint(0, 64, (120, 80))]
