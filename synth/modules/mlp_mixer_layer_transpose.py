import torch
import torch.nn as nn


class MlpBlock(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.gelu = nn.GELU()
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.fc2(self.gelu(self.fc1(x)))


class Model(nn.Module):
    def __init__(self, tokens, channels, token_hidden, channel_hidden):
        super().__init__()
        self.ln_token = nn.LayerNorm(channels)
        self.token_mixing = MlpBlock(tokens, token_hidden)
        self.ln_channel = nn.LayerNorm(channels)
        self.channel_mixing = MlpBlock(channels, channel_hidden)

    def forward(self, x):
        out = self.ln_token(x).transpose(1, 2)
        x = x + self.token_mixing(out).transpose(1, 2)
        out = self.ln_channel(x)
        x = x + self.channel_mixing(out)
        return x


def get_inputs():
    return [torch.randn(10, 196, 128)]


def get_init_inputs():
    return [196, 128, 64, 256]
