import torch
from torch import nn


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class Model(nn.Module):
    """Energy of an image, and the contrastive objective between data and samples."""

    def __init__(self, f, alpha):
        super().__init__()
        self.cnn_layers = nn.Sequential(
            nn.Conv2d(1, f, kernel_size=5, stride=2, padding=4), Swish(),
            nn.Conv2d(f, f * 2, kernel_size=3, stride=2, padding=1), Swish(),
            nn.Flatten(), nn.Linear(f * 2 * 64, 1))
        self.alpha = alpha

    def forward(self, real, fake):
        e = self.cnn_layers(torch.cat([real, fake], dim=0)).squeeze(dim=-1)
        real_out, fake_out = e.chunk(2, dim=0)
        reg = self.alpha * (real_out ** 2 + fake_out ** 2).mean()
        return reg + fake_out.mean() - real_out.mean()


def get_inputs():
    return [torch.randn(64, 1, 28, 28), torch.randn(64, 1, 28, 28)]


def get_init_inputs():
    return [16, 0.1]
