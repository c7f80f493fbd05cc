import torch
from torch import nn, einsum
import torch.nn.functional as F

LATENTS, LATENT_DIM, INPUT_LEN, INPUT_DIM = 32, 64, 400, 24


def exists(val):
    return val is not None

def default(val, d):
    return val if exists(val) else d

def heads_split(t, h):
    b, n, _ = t.shape
    return t.reshape(b, n, h, -1).transpose(1, 2).reshape(b * h, n, -1)

class GEGLU(nn.Module):
    def forward(self, x):
        x, gates = x.chunk(2, dim = -1)
        return x * F.gelu(gates)

class Attention(nn.Module):
    def __init__(self, query_dim, context_dim = None, heads = 4, dim_head = 16):
        super().__init__()
        inner_dim = dim_head * heads
        context_dim = default(context_dim, query_dim)
        self.scale = dim_head ** -0.5
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner_dim, bias = False)
        self.to_kv = nn.Linear(context_dim, inner_dim * 2, bias = False)
        self.to_out = nn.Linear(inner_dim, query_dim)

    def forward(self, x, context = None, mask = None):
        h = self.heads
        q = self.to_q(x)
        context = default(context, x)
        k, v = self.to_kv(context).chunk(2, dim = -1)
        q, k, v = map(lambda t: heads_split(t, h), (q, k, v))
        sim = einsum('b i d, b j d -> b i j', q, k) * self.scale
        if exists(mask):
            max_neg_value = -torch.finfo(sim.dtype).max
            mask = mask[:, None, None, :].expand(-1, h, 1, -1).reshape(-1, 1, mask.shape[-1])
            sim.masked_fill_(~mask, max_neg_value)
        attn = sim.softmax(dim = -1)
        out = einsum('b i j, b j d -> b i d', attn, v)
        bh, n, d = out.shape
        out = out.reshape(bh // h, h, n, d).transpose(1, 2).reshape(bh // h, n, h * d)
        return self.to_out(out)

class Model(nn.Module):
    def __init__(self, num_latents, latent_dim, input_dim):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(num_latents, latent_dim))
        self.norm, self.norm_ctx = nn.LayerNorm(latent_dim), nn.LayerNorm(input_dim)
        self.cross = Attention(latent_dim, input_dim)
        self.self_attn = Attention(latent_dim)
        self.ff = nn.Sequential(nn.Linear(latent_dim, latent_dim * 4), GEGLU(), nn.Linear(latent_dim * 2, latent_dim))

    def forward(self, data, mask = None):
        b = data.shape[0]
        x = self.latents.repeat(b, 1, 1)
        x = self.cross(self.norm(x), context = self.norm_ctx(data), mask = mask) + x
        x = self.ff(x) + x
        for _ in range(2):      # weights shared over the two iterations
            x = self.self_attn(x) + x
        return x.mean(dim = -2)

def get_inputs():
    mask = torch.ones(2, INPUT_LEN).bool()
    mask[1, 250:] = False
    return [torch.randn(2, INPUT_LEN, INPUT_DIM), mask]

def get_init_inputs():
    return [LATENTS, LATENT_DIM, INPUT_DIM]
