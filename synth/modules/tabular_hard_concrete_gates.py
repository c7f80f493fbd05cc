import torch
import torch.nn as nn


class Model(nn.Module):
    """Feature gates: a hard-concrete style stretch of sigmoids (no noise), times the input, plus a penalty."""

    def __init__(self, n_features, zeta=1.1, gamma=-0.1, beta=0.66):
        super().__init__()
        self.log_alpha = nn.Parameter(torch.randn(n_features))
        self.zeta = zeta
        self.gamma = gamma
        self.beta = beta

    @property
    def gates(self):
        s = torch.sigmoid(self.log_alpha / self.beta)
        return torch.clamp(s * (self.zeta - self.gamma) + self.gamma, 0.0, 1.0)

    def forward(self, x):
        g = self.gates
        return x * g, (x * x * (1 - g)).mean(-1)


def get_inputs():
    return [torch.randn(8300, 75)]


def get_init_inputs():
    return [75]
