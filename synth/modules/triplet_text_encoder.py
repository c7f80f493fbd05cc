import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocab_size, d, margin=1.0):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d)
        self.conv = nn.Conv1d(d, d, 3, padding=1)
        self.proj = nn.Linear(d, d)
        self.margin = margin

    def encode(self, ids):
        x = self.emb(ids).permute(0, 2, 1)
        x = torch.tanh(self.conv(x))
        return self.proj(x.max(dim=-1).values)

    def forward(self, anchor, positive, negative):
        a, p, n = map(self.encode, (anchor, positive, negative))
        dp = (a - p).abs().sum(-1)
        dn = (a - n).abs().sum(-1)
        return torch.clamp(dp - dn + self.margin, min=0).mean()


V = 1500


def get_inputs():
    return [torch.randint(0, V, (450, 40)) for _ in range(3)]


def get_init_inputs():
    return [V, 66, 1.0]
