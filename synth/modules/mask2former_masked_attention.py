import torch
import torch.nn as nn


class Model(nn.Module):
    """Query attention limited to the foreground of the last mask; queries with empty masks see everything."""

    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, queries, pixels, mask_logits):
        b, n, d = queries.shape
        blocked = mask_logits.sigmoid() < 0.5
        blocked = blocked & ~blocked.all(dim=-1, keepdim=True)
        q = self.q(queries).view(b, n, self.heads, -1).transpose(1, 2)
        k = self.k(pixels).view(b, -1, self.heads, d // self.heads).transpose(1, 2)
        v = self.v(pixels).view(b, -1, self.heads, d // self.heads).transpose(1, 2)
        s = q @ k.transpose(2, 3) / (d // self.heads) ** 0.5
        s = s.masked_fill(blocked.unsqueeze(1), -1e9)
        return queries + (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


def get_inputs():
    return [torch.randn(4, 100, 128), torch.randn(4, 576, 128), torch.randn(4, 100, 576)]


def get_init_inputs():
    return [128, 8]
