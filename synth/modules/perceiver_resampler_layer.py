import torch
import torch.nn as nn


class Model(nn.Module):
    """Latents attend to the concatenation of media features and themselves."""

    def __init__(self, dim=256, num_latents=32, dim_head=32, heads=8):
        super().__init__()
        self.heads = heads
        self.scale = dim_head ** -0.5
        inner = dim_head * heads
        self.latents = nn.Parameter(torch.randn(num_latents, dim))
        self.norm_media = nn.LayerNorm(dim)
        self.norm_latents = nn.LayerNorm(dim)
        self.to_q = nn.Linear(dim, inner, bias=False)
        self.to_kv = nn.Linear(dim, inner * 2, bias=False)
        self.to_out = nn.Linear(inner, dim, bias=False)

    def forward(self, x):
        b = x.shape[0]
        lat = self.norm_latents(self.latents).expand(b, -1, -1)
        kv_in = torch.cat((self.norm_media(x), lat), dim=-2)
        q = self.to_q(lat).view(b, -1, self.heads, x.shape[-1] // self.heads) * self.scale
        k, v = self.to_kv(kv_in).view(b, kv_in.shape[1], 2, self.heads, -1).unbind(2)
        sim = torch.einsum('bihd,bjhd->bhij', q, k)
        sim = sim - sim.amax(dim=-1, keepdim=True)
        out = torch.einsum('bhij,bjhd->bihd', sim.softmax(dim=-1), v)
        return self.to_out(out.flatten(2))


def get_inputs():
    return [torch.randn(4, 260, 256)]


def get_init_inputs():
    return []
