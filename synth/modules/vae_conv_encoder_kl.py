import torch
import torch.nn as nn


class Model(nn.Module):
    """Convolutional variational encoder: gives the latent and the mean KL term."""

    def __init__(self, in_ch, hidden, latent):
        super().__init__()
        modules = []
        for h in hidden:
            modules.append(nn.Sequential(nn.Conv2d(in_ch, h, kernel_size=3, stride=2, padding=1), nn.ELU()))
            in_ch = h
        self.encoder = nn.Sequential(*modules)
        self.to_stats = nn.Linear(hidden[-1] * 16, 2 * latent)

    def forward(self, x, noise):
        h = self.encoder(x).flatten(1)
        mu, log_var = self.to_stats(h).chunk(2, dim=1)
        log_var = log_var.clamp(-8.0, 8.0)
        z = mu + noise * (0.5 * log_var).exp()
        kld = -0.5 * (1 + log_var - mu ** 2 - log_var.exp()).sum(dim=1).mean()
        return z, kld


BATCH, LATENT = 72, 24


def get_inputs():
    return [torch.randn(BATCH, 3, 32, 32), torch.randn(BATCH, LATENT)]


def get_init_inputs():
    return [3, [24, 48, 72], LATENT]
