import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c, latent):
        super().__init__()
        self.e1 = nn.Conv2d(3, c, 4, 2, 1)
        self.to_mu = nn.Conv2d(c, latent, 1)
        self.to_logvar = nn.Conv2d(c, latent, 1)
        self.d1 = nn.ConvTranspose2d(latent, 3, 4, 2, 1)

    def forward(self, x, eps):
        h = F.silu(self.e1(x))
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = mu + eps * torch.exp(logvar / 2)
        return torch.sigmoid(self.d1(z))


def get_inputs():
    return [torch.rand(8, 3, 64, 64), torch.randn(8, 4, 32, 32)]


def get_init_inputs():
    return [32, 4]
