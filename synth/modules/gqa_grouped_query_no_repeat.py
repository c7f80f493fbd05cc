import torch
import torch.nn as nn

bsz, seqlen, n_kv, groups, hd = 2, 160, 3, 5, 48


class Model(nn.Module):
    # Query heads of one group share the key head by broadcasting, nothing is repeated in memory.
    def __init__(self, n_kv_heads: int, n_groups: int, head_dim: int):
        super().__init__()
        self.n_kv_heads, self.n_groups, self.head_dim = n_kv_heads, n_groups, head_dim
        dim = n_kv_heads * n_groups * head_dim
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_kv_heads, self.n_groups, self.head_dim)
        k = self.wk(x).view(b, t, self.n_kv_heads, self.head_dim)
        v = self.wv(x).view(b, t, self.n_kv_heads, self.head_dim)
        scores = torch.einsum("btkgd,bskd->bkgts", q, k) / self.head_dim**0.5
        keep = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~keep, float("-inf"))
        mixed = torch.einsum("bkgts,bskd->btkgd", torch.softmax(scores, dim=-1), v)
        return self.wo(mixed.reshape(b, t, -1))


def get_inputs():
    return [torch.randn(bsz, seqlen, n_kv * groups * hd)]


def get_init_inputs():
    return [n_kv, groups, hd]
