import torch
import torch.nn as nn


class Model(nn.Module):
    # learned latents attend to the inputs (one head), residual feed-forward after
    def __init__(self, n_latents, latent_dim, input_dim):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(n_latents, latent_dim) * 0.02)
        self.to_q = nn.Linear(latent_dim, latent_dim, bias=False)
        self.to_kv = nn.Linear(input_dim, 2 * latent_dim, bias=False)
        self.ff = nn.Sequential(nn.LayerNorm(latent_dim), nn.Linear(latent_dim, 2 * latent_dim), nn.GELU(),
                                nn.Linear(2 * latent_dim, latent_dim))

    def forward(self, data):
        q = self.to_q(self.latents)
        k, v = self.to_kv(data).chunk(2, -1)
        sim = torch.einsum("i d, b j d -> b i j", q, k) * q.shape[-1] ** -0.5
        lat = self.latents + torch.einsum("b i j, b j d -> b i d", sim.softmax(dim=-1), v)
        return lat + self.ff(lat)


def get_inputs():
    return [torch.randn(4, 1000, 64)]


def get_init_inputs():
    return [32, 128, 64]
