"""Attentive statistics pooling of x-vector speaker embeddings."""
import torch
import torch.nn as nn

CHANNELS, FRAMES, BOTTLENECK = 192, 200, 48


def length_to_mask(length, max_len=None, dtype=None):
    assert len(length.shape) == 1
    mask = torch.arange(max_len, device=length.device, dtype=length.dtype).expand(
        len(length), max_len) < length.unsqueeze(1)
    return torch.as_tensor(mask, dtype=dtype)


class Model(nn.Module):
    def __init__(self, channels, attention_channels=128, global_context=True):
        super().__init__()
        self.eps = 1e-12
        self.global_context = global_context
        self.tdnn = nn.Conv1d(channels * 3 if global_context else channels, attention_channels, 1)
        self.tanh = nn.Tanh()
        self.conv = nn.Conv1d(attention_channels, channels, kernel_size=1)

    def forward(self, x, lengths=None):
        L = x.shape[-1]

        def _compute_statistics(x, m, dim=2, eps=self.eps):
            mean = (m * x).sum(dim)
            std = torch.sqrt((m * (x - mean.unsqueeze(dim)).pow(2)).sum(dim).clamp(eps))
            return mean, std

        if lengths is None:
            lengths = torch.ones(x.shape[0], device=x.device)
        mask = length_to_mask(lengths * L, max_len=L, dtype=x.dtype).unsqueeze(1)
        if self.global_context:
            total = mask.sum(dim=2, keepdim=True)
            mean, std = _compute_statistics(x, mask / total)
            mean = mean.unsqueeze(2).repeat(1, 1, L)
            std = std.unsqueeze(2).repeat(1, 1, L)
            attn = torch.cat([x, mean, std], dim=1)
        else:
            attn = x
        attn = self.conv(self.tanh(self.tdnn(attn)))
        attn = attn.masked_fill(mask == 0, float("-inf"))
        attn = torch.nn.functional.softmax(attn, dim=2)
        mean, std = _compute_statistics(x, attn)
        pooled_stats = torch.cat((mean, std), dim=1)
        return pooled_stats.unsqueeze(2)


def get_inputs():
    return [torch.randn(4, CHANNELS, FRAMES), torch.tensor([1.0, 0.9, 0.5, 0.75])]


def get_init_inputs():
    return [CHANNELS, BOTTLENECK]
