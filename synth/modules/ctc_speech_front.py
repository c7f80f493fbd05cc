import torch
import torch.nn as nn


class ConvSub(nn.Module):
    """4x subsampling by two strided 2d convs"""

    def __init__(self, odim, idim):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, odim, 3, 2),
            nn.ReLU(),
            nn.Conv2d(odim, odim, 3, 2),
            nn.ReLU(),
        )
        self.out = nn.Linear(odim * (((idim - 1) // 2 - 1) // 2), odim)

    def forward(self, x):
        x = self.conv(x.unsqueeze(1))
        b, c, t, f = x.size()
        return self.out(x.transpose(1, 2).contiguous().view(b, t, c * f))


class Model(nn.Module):
    def __init__(self, n_mel, d, n_tokens):
        super().__init__()
        self.sub = ConvSub(d, n_mel)
        self.ln = nn.LayerNorm(d)
        self.ctc = nn.Linear(d, n_tokens)

    def forward(self, feats):
        return self.ctc(self.ln(self.sub(feats))).log_softmax(-1)


def get_inputs():
    return [torch.randn(6, 203, 80)]


def get_init_inputs():
    return [80, 64, 90]
