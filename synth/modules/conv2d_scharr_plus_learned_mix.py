import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Learned and fixed filters side by side: magnitude of two fixed derivatives scales the learned response."""

    def __init__(self, channels, out_channels):
        super().__init__()
        kx = torch.tensor([[-3.0, 0.0, 3.0], [-10.0, 0.0, 10.0], [-3.0, 0.0, 3.0]]) / 32
        k = torch.stack([kx, kx.t()]).unsqueeze(1)
        self.register_buffer("scharr", k)
        self.learned = nn.Conv2d(channels, out_channels, 3, padding=1)

    def forward(self, x):
        grey = x.mean(1, keepdim=True)
        g = F.conv2d(grey, self.scharr, padding=1)
        mag = torch.sqrt(g[:, :1] ** 2 + g[:, 1:] ** 2 + 1e-6)
        return F.relu(self.learned(x)) * (1 + mag)


def get_inputs():
    return [torch.rand(7, 3, 90, 85)]


def get_init_inputs():
    return [3, 20]
