import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

LENGTHS = (150, 137, 144, 112, 90, 61)
DIM, SPANS, MAX_WIDTH = 96, 60, 10


class Model(nn.Module):
    """Takes a list of sequences of unequal length; returns endpoint + width + head-pooled span features."""

    def __init__(self, dim, max_width):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.width = nn.Embedding(max_width, 16)
        self.ffn = nn.Sequential(nn.Linear(3 * dim + 16, 64), nn.ReLU(), nn.Linear(64, 5))
        self.max_width = max_width

    def batched_index_select(self, target, indices):
        flat = indices + torch.arange(target.size(0), device=target.device).view(-1, *[1] * (indices.dim() - 1)) * target.size(1)
        return target.reshape(-1, target.size(-1)).index_select(0, flat.reshape(-1)).view(*indices.shape, -1)

    def forward(self, sequences, spans):
        x = pad_sequence(sequences, batch_first=True)
        lengths = torch.tensor([s.shape[0] for s in sequences], device=x.device)
        spans = torch.minimum(spans, (lengths - 1).view(-1, 1, 1))
        start, end = spans.split(1, dim=-1)
        widths = (end - start).clamp(0, self.max_width - 1)
        offsets = torch.arange(self.max_width, device=x.device).view(1, 1, -1)
        inside = offsets <= widths
        idx = (end - offsets).clamp(min=0)
        tokens = self.batched_index_select(x, idx)
        logits = self.batched_index_select(self.score(x), idx).squeeze(-1)
        att = logits.masked_fill(~inside, -1e4).softmax(-1)
        pooled = (att.unsqueeze(-1) * tokens).sum(-2)
        feats = torch.cat([self.batched_index_select(x, start.squeeze(-1)), self.batched_index_select(x, end.squeeze(-1)),
                           pooled, self.width(widths.squeeze(-1))], dim=-1)
        return self.ffn(feats)


def get_inputs():
    s = torch.randint(0, min(LENGTHS) - 2, (len(LENGTHS), SPANS))
    spans = torch.stack([s, s + torch.randint(0, MAX_WIDTH, s.shape)], dim=-1)
    return [[torch.randn(n, DIM) for n in LENGTHS], spans]


def get_init_inputs():
    return [DIM, MAX_WIDTH]
