import torch
import torch.nn as nn


class Model(nn.Module):
    """U-Net up step in 1D: ConvTranspose1d, ReLU, LayerNorm over channels, concat the skip, 1x1 conv."""

    def __init__(self, low_ch, skip_ch, out_ch):
        super().__init__()
        self.upconv = nn.ConvTranspose1d(low_ch, skip_ch, 2, stride=2)
        self.ln = nn.LayerNorm(skip_ch)
        self.merge = nn.Conv1d(2 * skip_ch, out_ch, 1)

    def forward(self, low, skip):
        u = torch.relu(self.upconv(low))
        u = self.ln(u.transpose(1, 2)).transpose(1, 2)
        return self.merge(torch.cat([u, skip], dim=1))


def get_inputs():
    return [torch.randn(8, 64, 200), torch.randn(8, 32, 400)]


def get_init_inputs():
    return [64, 32, 40]
