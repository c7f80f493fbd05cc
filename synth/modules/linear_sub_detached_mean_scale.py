import torch
import torch.nn as nn


class Model(nn.Module):
    """Dueling head: value + advantage - mean(advantage), from leaky features, scaled and clipped."""

    def __init__(self, feat, hidden, actions):
        super().__init__()
        self.feature = nn.Linear(feat, hidden)
        self.advantage = nn.Linear(hidden, actions)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x, clip: float = 5.0):
        h = nn.functional.leaky_relu(self.feature(x))
        a = self.advantage(h)
        q = self.value(h) + a - a.mean(dim=1, keepdim=True)
        return q.clamp(-clip, clip)


def get_inputs():
    return [torch.randn(800, 128), 0.5]


def get_init_inputs():
    return [128, 512, 18]
