import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Duration / pitch predictor of FastSpeech 2, with padding set to zero."""

    def __init__(self, idim, n_chans, kernel):
        super().__init__()
        self.conv1d_1 = nn.Conv1d(idim, n_chans, kernel, padding=kernel // 2)
        self.ln_1 = nn.LayerNorm(n_chans, eps=1e-12)
        self.conv1d_2 = nn.Conv1d(n_chans, n_chans, kernel, padding=kernel // 2)
        self.ln_2 = nn.LayerNorm(n_chans, eps=1e-12)
        self.linear = nn.Linear(n_chans, 1)

    def forward(self, xs, x_masks):
        xs = self.conv1d_1(xs.mT).relu().mT
        xs = self.ln_1(xs)
        xs = F.relu(self.conv1d_2(xs.mT))
        xs = self.ln_2(xs.mT)
        out = self.linear(xs).squeeze(-1)
        out = out.masked_fill(x_masks, 0.0)
        return out, torch.clamp(torch.round(out.exp() - 1.0), min=0)


def get_inputs():
    pad = torch.arange(120)[None] >= torch.randint(60, 121, (12, 1))
    return [torch.randn(12, 120, 192), pad]


def get_init_inputs():
    return [192, 192, 3]
