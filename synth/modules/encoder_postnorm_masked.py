import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h, self.d_k = heads, d_model // heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)

    def _split(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.h, self.d_k).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self._split(self.wq(x)), self._split(self.wk(x)), self._split(self.wv(x))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / self.d_k ** 0.5
        scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
        out = torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)
        out = out.permute(0, 2, 1, 3).flatten(2)
        return self.wo(out)


class Model(nn.Module):
    """A single post-norm encoder layer, padding mask given as 0/1."""

    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attn = MultiHead(d_model, heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, src, src_mask):
        src = self.norm1(src + self.attn(src, src_mask))
        return self.norm2(src + self.w2(torch.relu(self.w1(src))))


def get_inputs():
    mask = torch.ones(10, 75, dtype=torch.int64)
    mask[3:, 60:] = 0
    mask[7:, 31:] = 0
    return [torch.randn(10, 75, 160), mask]


def get_init_inputs():
    return [160, 5, 480]
