import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    """Gaussian VAE on flat images; returns reconstruction and KL, one value a sample."""

    def __init__(self, x_dim=784, h_dim=400, z_dim=20):
        super().__init__()
        self.fc1 = nn.Linear(x_dim, h_dim)
        self.fc21 = nn.Linear(h_dim, z_dim)
        self.fc22 = nn.Linear(h_dim, z_dim)
        self.fc3 = nn.Linear(z_dim, h_dim)
        self.fc4 = nn.Linear(h_dim, x_dim)

    def forward(self, x, noise):
        h1 = F.relu(self.fc1(x))
        mu, logvar = self.fc21(h1), self.fc22(h1)
        z = noise.mul(torch.exp(0.5 * logvar)).add(mu)
        recon = torch.sigmoid(self.fc4(F.relu(self.fc3(z))))
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
        return recon, kld


def get_inputs():
    return [torch.rand(500, 784), torch.randn(500, 20)]


def get_init_inputs():
    return []
