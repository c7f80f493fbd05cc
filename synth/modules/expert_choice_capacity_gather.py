import torch
import torch.nn as nn


class Model(nn.Module):
    """Expert choice: each expert takes its best tokens, results are added back at their places."""

    def __init__(self, d, n_exp, capacity):
        super().__init__()
        self.gate = nn.Linear(d, n_exp, bias=False)
        self.w = nn.Parameter(torch.randn(n_exp, d, d) / d ** 0.5)
        self.capacity = capacity

    def forward(self, x):
        scores = torch.softmax(self.gate(x), dim=-1).t()          # (E, T)
        g, idx = torch.topk(scores, self.capacity, dim=-1)         # (E, C)
        picked = x[idx]                                            # (E, C, d)
        y = torch.relu(torch.bmm(picked, self.w)) * g.unsqueeze(-1)
        return x + torch.zeros_like(x).index_add(0, idx.reshape(-1), y.reshape(-1, y.shape[-1]))


def get_inputs():
    return [torch.randn(1024, 256)]


def get_init_inputs():
    return [256, 8, 192]
