import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """1D series folded to 2D by a fixed period, two convolutions, folded back, residual."""

    def __init__(self, d_model, d_ff, period):
        super().__init__()
        self.period = period
        self.conv = nn.Sequential(
            nn.Conv2d(d_model, d_ff, (3, 3), padding=(1, 1)),
            nn.GELU(),
            nn.Conv2d(d_ff, d_model, (1, 5), padding=(0, 2)),
        )

    def forward(self, x):
        B, T, N = x.size()
        extra = (-T) % self.period
        out = F.pad(x, (0, 0, 0, extra))
        out = out.reshape(B, (T + extra) // self.period, self.period, N).permute(0, 3, 1, 2).contiguous()
        out = self.conv(out)
        out = out.permute(0, 2, 3, 1).reshape(B, -1, N)
        return out[:, :T, :] + x


def get_inputs():
    return [torch.randn(8, 190, 32)]


def get_init_inputs():
    return [32, 48, 24]
