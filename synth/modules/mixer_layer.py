import torch
import torch.nn as nn


class MlpBlock(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.fc1 = nn.Linear(d, h)
        self.fc2 = nn.Linear(h, d)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Model(nn.Module):
    def __init__(self, tokens, channels, tokens_hidden, channels_hidden):
        super().__init__()
        self.ln1 = nn.LayerNorm(channels)
        self.tok = MlpBlock(tokens, tokens_hidden)
        self.ln2 = nn.LayerNorm(channels)
        self.chan = MlpBlock(channels, channels_hidden)

    def forward(self, x):
        y = self.ln1(x).transpose(1, 2)
        x = x + self.tok(y).transpose(1, 2)
        return x + self.chan(self.ln2(x))


S, C = 144, 216


def get_inputs():
    return [torch.randn(10, S, C)]


def get_init_inputs():
    return [S, C, 80, 500]
