import torch
import torch.nn as nn


class Model(nn.Module):
    """One decoding step of multi-query attention. The cache arrives as an input and the longer one is returned."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.Wqkv = nn.Linear(d_model, d_model + 2 * self.d_head)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, past_k, past_v):
        b = x.shape[0]
        q, k, v = self.Wqkv(x).split([self.n_heads * self.d_head, self.d_head, self.d_head], dim=-1)
        k = torch.cat((past_k, k), dim=1)
        v = torch.cat((past_v, v), dim=1)
        q = q.view(b, self.n_heads, self.d_head)
        att = torch.einsum("bhd,btd->bht", q, k) * self.d_head ** -0.5
        att = att.softmax(-1)
        y = torch.einsum("bht,btd->bhd", att, v).reshape(b, 1, -1)
        return self.out_proj(y), k, v


def get_inputs():
    return [torch.randn(16, 1, 512), torch.randn(16, 255, 64), torch.randn(16, 255, 64)]


def get_init_inputs():
    return [512, 8]
