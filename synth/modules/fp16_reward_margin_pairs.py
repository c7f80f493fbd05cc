import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Preference loss: half hidden states of chosen and rejected answers, mean reward over valid tokens, margin."""

    def __init__(self, dim, margin=0.2):
        super().__init__()
        self.head = nn.Linear(dim, 1, bias=False).half()
        self.margin = margin

    def reward(self, hidden, mask):
        r = self.head(hidden).squeeze(-1).float()
        return (r * mask).sum(-1) / mask.sum(-1).clamp(min=1)

    def forward(self, chosen, rejected, mask_c, mask_r):
        gap = self.reward(chosen, mask_c) - self.reward(rejected, mask_r)
        return -F.logsigmoid(gap - self.margin), gap


def get_inputs():
    b, t, d = 30, 90, 192
    m = lambda: (torch.rand(b, t) > 0.2).float()
    return [torch.randn(b, t, d).half(), torch.randn(b, t, d).half(), m(), m()]


def get_init_inputs():
    return [192]
