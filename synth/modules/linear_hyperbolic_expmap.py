import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear layer into the Poincare ball (exponential map at zero) and its conformal factor."""

    def __init__(self, n, m, curvature=0.8):
        super().__init__()
        self.fc = nn.Linear(n, m)
        self.sqrt_c = curvature ** 0.5

    def forward(self, x):
        v = self.fc(x)
        norm = v.norm(p=2, dim=-1, keepdim=True).clamp_min(1e-7)
        ball = torch.tanh(self.sqrt_c * norm) * v / (self.sqrt_c * norm)
        lam = 2.0 / (1.0 - self.sqrt_c ** 2 * ball.pow(2).sum(-1)).clamp(min=1e-5)
        return ball, lam


def get_inputs():
    return [torch.randn(2100, 110) * 0.3]


def get_init_inputs():
    return [110, 66]
