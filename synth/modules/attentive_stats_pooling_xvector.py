import torch
import torch.nn as nn


class Model(nn.Module):
    """Attentive statistics pooling (speaker verification): weighted mean and deviation over time."""

    def __init__(self, channels, attention_channels=64):
        super().__init__()
        self.tdnn = nn.Conv1d(channels, attention_channels, kernel_size=1)
        self.tanh = nn.Tanh()
        self.conv = nn.Conv1d(attention_channels, channels, kernel_size=1)
        self.eps = 1e-12

    def forward(self, x, lengths):
        L = x.shape[-1]
        mask = torch.arange(L, device=x.device).unsqueeze(0) < (lengths * L).unsqueeze(1)
        attn = self.conv(self.tanh(self.tdnn(x)))
        attn = attn.masked_fill(~mask.unsqueeze(1), float("-inf"))
        attn = torch.softmax(attn, dim=2)
        mean = (attn * x).sum(2)
        std = torch.sqrt((attn * (x - mean.unsqueeze(2)).pow(2)).sum(2).clamp(self.eps))
        return torch.cat((mean, std), dim=1)


def get_inputs():
    return [torch.randn(8, 192, 300), torch.rand(8) * 0.5 + 0.5]


def get_init_inputs():
    return [192]
