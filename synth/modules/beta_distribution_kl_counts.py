import torch
import torch.nn as nn


class Model(nn.Module):
    """Posterior mean, variance and log density of click-through rates under a Beta prior."""

    def __init__(self, prior_a: float, prior_b: float):
        super().__init__()
        self.prior_a = prior_a
        self.prior_b = prior_b

    def forward(self, clicks: torch.Tensor, views: torch.Tensor, rate: torch.Tensor):
        a = self.prior_a + clicks
        b = self.prior_b + (views - clicks)
        total = a + b
        mean = a / total
        var = mean * (1 - mean) / (total + 1)
        log_beta = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(total)
        logp = (a - 1) * rate.log() + (b - 1) * torch.log1p(-rate) - log_beta
        return mean, var, logp


def get_inputs():
    views = torch.randint(10, 100, (600, 600)).float()
    return [(views * torch.rand(600, 600)).floor(), views, torch.rand(600, 600) * 0.9 + 0.05]


def get_init_inputs():
    return [1.5, 8.0]
