import torch
import torch.nn as nn


class Model(nn.Module):
    """Attentive statistics pooling: weighted mean and deviation over time, one set of weights a channel."""

    def __init__(self, channels, bottleneck):
        super().__init__()
        self.tdnn = nn.Conv1d(channels, bottleneck, 1)
        self.conv = nn.Conv1d(bottleneck, channels, 1)

    def forward(self, x):
        w = torch.softmax(self.conv(torch.tanh(self.tdnn(x))), dim=2)
        mu = torch.sum(w * x, dim=2)
        var = torch.sum(w * x.square(), dim=2) - mu.square()
        sg = var.clamp(min=1e-5).sqrt()
        return torch.cat((mu, sg), dim=1)


def get_inputs():
    return [torch.randn(16, 192, 202)]


def get_init_inputs():
    return [192, 64]
