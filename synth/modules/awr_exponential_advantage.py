import torch
import torch.nn as nn


class Model(nn.Module):
    """Advantage-weighted regression on a diagonal Gaussian policy."""

    def __init__(self, beta, max_weight):
        super().__init__()
        self.beta = beta
        self.max_weight = max_weight

    def forward(self, mean, log_std, action, returns, value):
        std = log_std.clamp(-5.0, 2.0).exp()
        z = (action - mean) / std
        logp = (-0.5 * z * z - std.log() - 0.9189385).sum(-1)
        advantage = returns - value
        weight = torch.exp(advantage / self.beta).clamp(max=self.max_weight)
        return -(weight * logp), weight


def get_inputs():
    return [torch.randn(8192, 17), torch.randn(8192, 17) * 0.2, torch.randn(8192, 17), torch.randn(8192), torch.randn(8192)]


def get_init_inputs():
    return [0.5, 20.0]
