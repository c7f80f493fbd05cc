import torch
import torch.nn as nn


class Model(nn.Module):
    """Deconvolution with keyword arguments; average pool; hardtanh; mean over W; tanh."""

    def __init__(self, in_channels=20, out_channels=18, kernel_size=4, stride=2, padding=1, pool=2, lo=-0.5, hi=0.5):
        super().__init__()
        self.deconv = nn.ConvTranspose2d(in_channels=in_channels, out_channels=out_channels,
                                         kernel_size=kernel_size, stride=stride, padding=padding)
        self.pool = nn.AvgPool2d(kernel_size=pool, stride=pool)
        self.clip = nn.Hardtanh(min_val=lo, max_val=hi)

    def forward(self, x):
        x = self.deconv(x)
        x = self.clip(self.pool(x))
        x = x.mean(dim=-1, keepdim=True)
        return x.tanh()


def get_inputs():
    return [torch.randn(8, 20, 24, 22)]


def get_init_inputs():
    return []
