import torch
import torch.nn as nn


class Model(nn.Module):
    """Poisson regression with exposure: linear predictor, log link, deviance per row (Stirling for large counts)."""

    def __init__(self, features, outputs, cap=6.0):
        super().__init__()
        self.fc = nn.Linear(features, outputs)
        self.cap = cap

    def forward(self, x, exposure, y):
        eta = (self.fc(x) + exposure.log().unsqueeze(-1)).clamp(max=self.cap)
        mu = eta.exp()
        stirling = y * torch.log(y.clamp(min=1.0)) - y + 0.5 * torch.log(2 * torch.pi * y.clamp(min=1.0))
        nll = mu - y * eta + torch.where(y > 1, stirling, torch.zeros_like(y))
        return nll.sum(-1)


def get_inputs():
    n = 2100
    return [torch.randn(n, 90), torch.rand(n) + 0.1, torch.randint(0, 9, (n, 64)).float()]


def get_init_inputs():
    return [90, 64]
