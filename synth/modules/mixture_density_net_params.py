import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Mixture density network: weights, means and widths of K Gaussians from one hidden layer."""

    def __init__(self, n_in, n_hidden, n_gaussians):
        super().__init__()
        self.z_h = nn.Sequential(nn.Linear(n_in, n_hidden), nn.Tanh())
        self.z_pi = nn.Linear(n_hidden, n_gaussians)
        self.z_mu = nn.Linear(n_hidden, n_gaussians)
        self.z_sigma = nn.Linear(n_hidden, n_gaussians)

    def forward(self, x):
        z_h = self.z_h(x)
        pi = F.softmax(self.z_pi(z_h), -1)
        mu = self.z_mu(z_h)
        sigma = torch.exp(self.z_sigma(z_h))
        return pi, mu, sigma


def get_inputs():
    return [torch.randn(8192, 24)]


def get_init_inputs():
    return [24, 96, 10]
