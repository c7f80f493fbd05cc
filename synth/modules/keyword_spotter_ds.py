import torch
import torch.nn as nn


class DSConv(nn.Sequential):
    def __init__(self, ch):
        super().__init__(
            nn.Conv2d(ch, ch, 3, padding=1, groups=ch),
            nn.ReLU(),
            nn.Conv2d(ch, ch, 1),
            nn.ReLU(),
        )


class Model(nn.Module):
    """DS-CNN keyword spotter on MFCC 'images' [batch, frames, coefficients]."""

    def __init__(self, channels: int, n_blocks: int, n_keywords: int):
        super().__init__()
        self.conv0 = nn.Conv2d(1, channels, (10, 4), stride=(2, 2), padding=(5, 1))
        self.blocks = nn.Sequential(*[DSConv(channels) for _ in range(n_blocks)])
        self.fc = nn.Linear(channels, n_keywords)

    def forward(self, mfcc):
        x = torch.relu(self.conv0(mfcc[:, None]))
        x = self.blocks(x)
        return self.fc(x.mean(dim=(-1, -2)))


def get_inputs():
    return [torch.randn(110, 49, 10)]


def get_init_inputs():
    return [64, 3, 12]
