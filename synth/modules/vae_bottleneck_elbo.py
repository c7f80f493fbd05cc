import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Encoder, reparametrised code (the noise is an input), decoder and negative ELBO."""

    def __init__(self, x_dim, h_dim, z_dim, beta=1.0):
        super().__init__()
        self.enc = nn.Linear(x_dim, h_dim)
        self.mu = nn.Linear(h_dim, z_dim)
        self.logvar = nn.Linear(h_dim, z_dim)
        self.dec = nn.Sequential(nn.Linear(z_dim, h_dim), nn.ReLU(), nn.Linear(h_dim, x_dim))
        self.beta = beta

    def forward(self, x, noise):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + noise * torch.exp(0.5 * logvar)
        recon = F.binary_cross_entropy_with_logits(self.dec(z), x, reduction="none").sum(1)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
        return (recon + self.beta * kl).mean(), z


def get_inputs():
    return [torch.rand(1500, 400), torch.randn(1500, 20)]


def get_init_inputs():
    return [400, 180, 20, 2.0]
