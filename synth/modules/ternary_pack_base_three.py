import torch
import torch.nn as nn


class Model(nn.Module):
    """Ternarises a weight by its mean magnitude, packs five trits a byte."""

    def __init__(self):
        super().__init__()
        self.register_buffer("powers", torch.tensor([1, 3, 9, 27, 81]))

    def forward(self, weight):
        scale = weight.abs().mean(dim=1, keepdim=True)
        trits = torch.clamp(torch.round(weight / (scale + 1e-6)), -1, 1)
        digits = (trits + 1).to(torch.int64).view(weight.size(0), -1, 5)
        return (digits * self.powers).sum(-1), scale


def get_inputs():
    return [torch.randn(1024, 1280)]


def get_init_inputs():
    return []
