import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, hidden: int, sigma: float):
        super().__init__()
        self.query_proj = nn.Linear(hidden, hidden)
        self.sigma = sigma

    def forward(self, states, reference):
        diff = self.query_proj(states) - reference.unsqueeze(1)
        closeness = torch.exp(-diff.square().mean(-1, keepdim=True) / (2 * self.sigma ** 2))
        return states * closeness + reference[:, None, :] * (1 - closeness)


def get_inputs():
    return [torch.randn(16, 90, 128), torch.randn(16, 128)]


def get_init_inputs():
    return [128, 1.1]
