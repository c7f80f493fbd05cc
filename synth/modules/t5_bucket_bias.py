import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Attention scores with a bucketed relative position bias (logarithmic buckets), bidirectional."""

    def __init__(self, heads, buckets=32, max_distance=128):
        super().__init__()
        self.table = nn.Embedding(buckets, heads)
        self.buckets = buckets
        self.max_distance = max_distance

    def bucket(self, rel):
        half = self.buckets // 2
        out = (rel > 0).long() * half
        n = rel.abs()
        exact = half // 2
        log_part = exact + (torch.log(n.float().clamp(min=1) / exact) / math.log(self.max_distance / exact) * (half - exact)).long()
        log_part = log_part.clamp(max=half - 1)
        return out + torch.where(n < exact, n, log_part)

    def forward(self, scores):
        q, k = scores.shape[-2:]
        rel = torch.arange(k, device=scores.device)[None, :] - torch.arange(q, device=scores.device)[:, None]
        bias = self.table(self.bucket(rel)).permute(2, 0, 1)
        return torch.softmax(scores + bias, dim=-1)


def get_inputs():
    return [torch.randn(5, 6, 190, 210)]


def get_init_inputs():
    return [6]
