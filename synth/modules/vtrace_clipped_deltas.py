import torch
import torch.nn as nn


class Model(nn.Module):
    """Importance-clipped temporal differences of V-trace (before the recursion)."""

    def __init__(self, gamma: float, rho_bar: float = 1.0, c_bar: float = 1.0):
        super().__init__()
        self.gamma, self.rho_bar, self.c_bar = gamma, rho_bar, c_bar

    def forward(self, log_pi, log_mu, rewards, values, bootstrap):
        ratio = torch.exp(log_pi - log_mu)
        rho = ratio.clamp(max=self.rho_bar)
        c = torch.clamp(ratio, max=self.c_bar)
        next_values = torch.cat([values[1:], bootstrap[None]], dim=0)
        delta = rho * (rewards + self.gamma * next_values - values)
        return delta, self.gamma * c


def get_inputs():
    T, N = 200, 1024
    return [-torch.rand(T, N), -torch.rand(T, N), torch.randn(T, N), torch.randn(T, N), torch.randn(N)]


def get_init_inputs():
    return [0.99]
