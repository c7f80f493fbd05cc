import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Power at a handful of telephone tones, window applied, by correlation with sine and cosine."""

    def __init__(self, block, rate, tones):
        super().__init__()
        n = torch.arange(block).float()
        window = 0.54 - 0.46 * torch.cos(2 * math.pi * n / (block - 1))
        phase = 2 * math.pi * n[:, None] * torch.tensor(tones)[None] / rate
        self.register_buffer("cosines", window[:, None] * torch.cos(phase))
        self.register_buffer("sines", window[:, None] * torch.sin(phase))
        self.block = block

    def forward(self, audio):
        frames = audio.reshape(audio.shape[0], -1, self.block)
        re = frames @ self.cosines
        im = frames @ self.sines
        power = re.pow(2) + im.pow(2)
        return power / (power.sum(-1, keepdim=True) + 1e-9)


def get_inputs():
    return [torch.randn(40, 205 * 80)]


def get_init_inputs():
    return [205, 8000.0, [697.0, 770.0, 852.0, 941.0, 1209.0, 1336.0, 1477.0, 1633.0]]
