"""Three half-precision convolutions with ReLU between them."""
import torch
import torch.nn as nn

BATCH = 2
CHANNELS = 16
SIDE = 16


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, dtype=torch.float16)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, dtype=torch.float16)
        self.third = nn.Conv2d(channels, channels, 3, padding=1, dtype=torch.float16)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        return self.third(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE).to(torch.float16)]


def get_init_inputs():
    return [CHANNELS]
