import torch
import torch.nn as nn


class Model(nn.Module):
    """A few learned latents read a long input by cross-attention, one head."""

    def __init__(self, n_latents, d_latent, d_input, n_out):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(n_latents, d_latent) * 0.02)
        self.q = nn.Linear(d_latent, d_latent, bias=False)
        self.k = nn.Linear(d_input, d_latent, bias=False)
        self.v = nn.Linear(d_input, d_latent, bias=False)
        self.mlp = nn.Sequential(nn.Linear(d_latent, 2 * d_latent), nn.GELU(), nn.Linear(2 * d_latent, d_latent))
        self.to_logits = nn.Linear(d_latent, n_out)
        self.scale = d_latent ** -0.5

    def forward(self, data):
        q = self.q(self.latents)
        k, v = self.k(data), self.v(data)
        attn = torch.softmax(torch.einsum("id,bjd->bij", q, k) * self.scale, dim=-1)
        z = self.latents + attn @ v
        z = z + self.mlp(z)
        return self.to_logits(z.mean(dim=1))


def get_inputs():
    return [torch.randn(10, 1500, 35)]


def get_init_inputs():
    return [30, 88, 35, 25]
