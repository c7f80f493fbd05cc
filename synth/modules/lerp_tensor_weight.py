import torch
import torch.nn as nn


class Model(nn.Module):
    """Gate between old and new state: torch.lerp with a sigmoid weight."""

    def forward(self, old_state, new_state, gate_logit):
        return torch.lerp(old_state, new_state, gate_logit.sigmoid())


def get_inputs():
    return [torch.randn(1000, 512) for _ in range(3)]


def get_init_inputs():
    return []
