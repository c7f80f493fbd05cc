import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, eta=1.0):
        super().__init__()
        self.eta = eta

    def get_ancestral_step(self, sigma_from, sigma_to):
        sigma_up = self.eta * (sigma_to**2 * (sigma_from**2 - sigma_to**2) / sigma_from**2) ** 0.5
        sigma_up = torch.minimum(sigma_to, sigma_up)
        sigma_down = (sigma_to**2 - sigma_up**2) ** 0.5
        return sigma_down, sigma_up

    def forward(self, sample, model_output, noise, sigma_from, sigma_to):
        down, up = self.get_ancestral_step(sigma_from, sigma_to)
        pred_original = sample - sigma_from[:, None, None] * model_output
        derivative = (sample - pred_original) / sigma_from[:, None, None]
        prev = sample + derivative * (down - sigma_from)[:, None, None]
        return prev + noise * up[:, None, None], pred_original


def get_inputs():
    s = torch.rand(16) * 4 + 2
    return [torch.randn(16, 64, 500), torch.randn(16, 64, 500), torch.randn(16, 64, 500), s, s * 0.7]


def get_init_inputs():
    return []
