import torch
import torch.nn as nn


class Model(nn.Module):
    """Scores plus the additive mask of a prefix language model with a distance penalty inside the causal part."""

    def __init__(self, length, slope, neg=-1e4):
        super().__init__()
        self.slope = slope
        self.neg = neg
        i = torch.arange(length)
        self.register_buffer("rows", i.view(-1, 1))
        self.register_buffer("cols", i.view(1, -1))

    def forward(self, prefix_len, scores):
        p = prefix_len.view(-1, 1, 1)
        visible = (self.cols <= self.rows) | (self.cols < p)
        penalty = -self.slope * (self.rows - self.cols).clamp(min=0).float()
        return scores + torch.where(visible, penalty, self.neg)


def get_inputs():
    return [torch.randint(1, 200, (17,)), torch.randn(17, 310, 310)]


def get_init_inputs():
    return [310, 0.0625]
