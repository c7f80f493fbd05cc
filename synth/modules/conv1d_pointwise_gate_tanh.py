import torch
import torch.nn as nn


class Model(nn.Module):
    """WaveNet gate: tanh of one half times sigmoid of the other."""

    def __init__(self, residual: int, dilation: int):
        super().__init__()
        self.dilated = nn.Conv1d(residual, 2 * residual, 3, padding=dilation, dilation=dilation)

    def forward(self, x):
        filt, gate = torch.split(self.dilated(x), x.size(1), dim=1)
        return torch.tanh(filt) * torch.sigmoid(gate)


def get_inputs():
    return [torch.randn(6, 32, 2000)]


def get_init_inputs():
    return [32, 4]
