import torch
import torch.nn as nn


class Model(nn.Module):
    """Quantile Huber loss between every pair of predicted and target quantiles."""

    def __init__(self, num_quantiles, kappa=1.0):
        super(Model, self).__init__()
        taus = (torch.arange(num_quantiles, dtype=torch.float32) + 0.5) / num_quantiles
        self.register_buffer("taus", taus.view(1, -1, 1))
        self.kappa = kappa

    def forward(self, theta, target):
        u = target.unsqueeze(1) - theta.unsqueeze(2)  # B, N, N'
        abs_u = u.abs()
        huber = torch.where(abs_u <= self.kappa, 0.5 * u.pow(2), self.kappa * (abs_u - 0.5 * self.kappa))
        weight = (self.taus - (u.detach() < 0).float()).abs()
        return (weight * huber / self.kappa).mean(2).sum(1)


def get_inputs():
    return [torch.randn(1024, 51), torch.randn(1024, 51)]


def get_init_inputs():
    return [51]
