import torch
import torch.nn as nn
from torch.nn import functional as F

D_MODEL, D_FFN, SEQ_LEN = 96, 192, 64

class SpatialGatingUnit(nn.Module):
    def __init__(self, d_ffn, seq_len, heads=2, causal=True):
        super().__init__()
        self.norm = nn.LayerNorm(d_ffn)
        self.heads = heads
        self.causal = causal
        self.weight = nn.Parameter(torch.empty(heads, seq_len, seq_len).uniform_(-1e-3, 1e-3))
        self.bias = nn.Parameter(torch.ones(heads, seq_len))

    def forward(self, x, gate_res=None):
        n, h = x.shape[1], self.heads
        res, gate = x.chunk(2, dim=-1)
        gate = self.norm(gate)
        weight, bias = self.weight, self.bias
        if self.causal:
            weight, bias = weight[:, :n, :n], bias[:, :n]
            mask = torch.ones(weight.shape[-2:], device=x.device).triu_(1).bool()
            weight = weight.masked_fill(mask[None, ...], 0.)
        b, _, d = gate.shape
        gate = gate.reshape(b, n, h, d // h).permute(0, 2, 1, 3)
        gate = torch.einsum('b h n d, h m n -> b h m d', gate, weight)
        gate = gate + bias[None, :, :, None]
        gate = gate.permute(0, 2, 1, 3).reshape(b, n, d)
        if gate_res is not None:
            gate = gate + gate_res
        return gate * res

class Model(nn.Module):
    def __init__(self, d_model, d_ffn, seq_len):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.channel_proj1 = nn.Linear(d_model, d_ffn * 2)
        self.channel_proj2 = nn.Linear(d_ffn, d_model)
        self.sgu = SpatialGatingUnit(d_ffn, seq_len)
        self.tiny_attn = nn.Linear(d_model, d_ffn)

    def forward(self, x):
        residual = x
        x = self.norm(x)
        t = self.tiny_attn(x)
        x = F.gelu(self.channel_proj1(x))
        x = self.sgu(x, gate_res=t)
        x = self.channel_proj2(x)
        return x + residual

def get_inputs():
    return [torch.randn(4, SEQ_LEN - 2, D_MODEL)]

def get_init_inputs():
    return [D_MODEL, D_FFN, SEQ_LEN]
