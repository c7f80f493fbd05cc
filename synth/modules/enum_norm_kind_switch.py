import enum
import torch
import torch.nn as nn


class NormKind(enum.Enum):
    RMS = "rms"
    LAYER = "layer"
    NONE = "none"


class Model(nn.Module):
    """Linear with a chosen normalisation behind it."""

    def __init__(self, d_in, d_out, kind):
        super().__init__()
        self.kind = NormKind(kind)
        self.fc = nn.Linear(d_in, d_out)
        self.scale = nn.Parameter(torch.ones(d_out))

    def forward(self, x):
        y = self.fc(x)
        if self.kind is NormKind.NONE:
            return y
        if self.kind is NormKind.LAYER:
            y = y - y.mean(dim=-1, keepdim=True)
        power = y.pow(2).mean(dim=-1, keepdim=True)
        return y / torch.sqrt(power + 1e-5) * self.scale


def get_inputs():
    return [torch.randn(1200, 320)]


def get_init_inputs():
    return [320, 180, "layer"]
