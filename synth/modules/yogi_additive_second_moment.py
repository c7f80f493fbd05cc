import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, learning_rate: float = 0.01):
        super().__init__()
        self.learning_rate = learning_rate

    def forward(self, params, grads, mu, nu):
        g_sq = torch.square(grads)
        mu = 0.9 * mu + 0.1 * grads
        nu = nu - 0.001 * torch.sign(nu - g_sq) * g_sq
        return params - self.learning_rate * mu / (torch.sqrt(nu.clamp(min=0)) + 1e-3), mu, nu


def get_inputs():
    return [torch.randn(400, 1600), torch.randn(400, 1600), torch.zeros(400, 1600), torch.rand(400, 1600)]


def get_init_inputs():
    return [0.003]
