import torch
import torch.nn as nn


class Model(nn.Module):
    """Mean-only residual coupling with one gated convolution; the inverse is chosen by a flag."""

    def __init__(self, channels, hidden, kernel_size, gin):
        super().__init__()
        self.half = channels // 2
        self.pre = nn.Conv1d(self.half, hidden, 1)
        self.enc = nn.Conv1d(hidden, 2 * hidden, kernel_size, padding=kernel_size // 2)
        self.cond = nn.Conv1d(gin, 2 * hidden, 1)
        self.post = nn.Conv1d(hidden, self.half, 1)

    def forward(self, x, x_mask, g, reverse=False):
        x0, x1 = torch.split(x, [self.half] * 2, 1)
        h = self.pre(x0) * x_mask
        in_act = self.enc(h) + self.cond(g)
        t_act, s_act = in_act.chunk(2, 1)
        h = torch.tanh(t_act) * torch.sigmoid(s_act)
        m = self.post(h) * x_mask
        x1 = (x1 - m) * x_mask if reverse else m + x1 * x_mask
        return torch.cat([x0, x1], 1)


def get_inputs():
    mask = (torch.arange(400)[None, None] < torch.randint(200, 401, (8, 1, 1))).float()
    return [torch.randn(8, 96, 400), mask, torch.randn(8, 64, 1), True]


def get_init_inputs():
    return [96, 96, 5, 64]
