import torch
import torch.nn as nn
import torch.nn.functional as F


class MlpBlock(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.a = nn.Linear(dim, hidden)
        self.b = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.b(F.gelu(self.a(x)))


class Model(nn.Module):
    """patches by strided conv -> mixing over tokens, then over channels"""

    def __init__(self, patch, width, tokens, tok_hidden, ch_hidden, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, stride=patch)
        self.ln_tok = nn.LayerNorm(width)
        self.ln_ch = nn.LayerNorm(width)
        self.tok = MlpBlock(tokens, tok_hidden)
        self.ch = MlpBlock(width, ch_hidden)
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        x = self.stem(images)
        n, c, h, w = x.shape
        x = x.view(n, c, h * w).permute(0, 2, 1)
        x = x + self.tok(self.ln_tok(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.ch(self.ln_ch(x))
        return self.head(x.mean(1))


def get_inputs():
    return [torch.randn(24, 3, 80, 80)]


def get_init_inputs():
    return [8, 96, 100, 64, 240, 15]
