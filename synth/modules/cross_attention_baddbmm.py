import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, query_dim, context_dim, heads, dim_head):
        super().__init__()
        inner = heads * dim_head
        self.heads = heads
        self.scale = dim_head ** -0.5
        self.to_q = nn.Linear(query_dim, inner, bias=False)
        self.to_k = nn.Linear(context_dim, inner, bias=False)
        self.to_v = nn.Linear(context_dim, inner, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, query_dim), nn.Dropout(0.0))

    def fold(self, t):
        b, n, c = t.shape
        t = t.reshape(b, n, self.heads, c // self.heads).permute(0, 2, 1, 3)
        return t.reshape(b * self.heads, n, -1)

    def forward(self, x, context, bias):
        q, k, v = map(self.fold, (self.to_q(x), self.to_k(context), self.to_v(context)))
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), beta=1.0, alpha=self.scale)
        out = torch.bmm(scores.softmax(dim=-1), v)
        b, n = x.shape[:2]
        out = out.view(b, self.heads, n, -1).transpose(1, 2).reshape(b, n, -1)
        return self.to_out(out)


def get_inputs():
    b, h, n, m = 3, 5, 400, 77
    return [torch.randn(b, n, 200), torch.randn(b, m, 320), torch.randn(b * h, n, m)]


def get_init_inputs():
    return [200, 320, 5, 40]
