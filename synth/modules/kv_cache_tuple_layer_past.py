import torch
import torch.nn as nn


class Model(nn.Module):
    """GPT-2 attention with layer_past; returns output and present."""

    def __init__(self, nx, n_ctx, n_head, scale=True):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(n_ctx, n_ctx)).view(1, 1, n_ctx, n_ctx))
        self.n_head = n_head
        self.scale = scale
        self.c_attn_weight = nn.Parameter(torch.randn(nx, nx * 3) * 0.02)
        self.c_attn_bias = nn.Parameter(torch.zeros(nx * 3))

    def split_heads(self, x, k=False):
        x = x.view(*x.size()[:-1], self.n_head, x.size(-1) // self.n_head)
        return x.permute(0, 2, 3, 1) if k else x.permute(0, 2, 1, 3)

    def forward(self, x, layer_past):
        query, key, value = torch.matmul(x, self.c_attn_weight).add(self.c_attn_bias).chunk(3, dim=2)
        query, key, value = self.split_heads(query), self.split_heads(key, k=True), self.split_heads(value)
        past_key, past_value = layer_past[0].transpose(-2, -1), layer_past[1]
        key = torch.cat((past_key, key), dim=-1)
        value = torch.cat((past_value, value), dim=-2)
        w = torch.matmul(query, key)
        if self.scale:
            w = w / value.size(-1) ** 0.5
        nd, ns = w.size(-2), w.size(-1)
        b = self.bias[:, :, ns - nd:ns, :ns]
        w = torch.softmax(w * b - 1e4 * (1 - b), dim=-1)
        a = torch.matmul(w, value).permute(0, 2, 1, 3).flatten(2)
        return a, torch.stack((key.transpose(-2, -1), value))


def get_inputs():
    return [torch.randn(4, 32, 256), torch.randn(2, 4, 8, 96, 32)]


def get_init_inputs():
    return [256, 192, 8]
