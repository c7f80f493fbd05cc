import torch
import torch.nn as nn


class Model(nn.Module):
    """One step of a diagonal SSM in recurrent mode, discretised by the bilinear rule."""

    def __init__(self, H, N):
        super().__init__()
        self.A = nn.Parameter(-0.5 - torch.rand(H, N))
        self.B = nn.Parameter(torch.ones(H, N))
        self.C = nn.Parameter(torch.randn(H, N))
        self.log_dt = nn.Parameter(torch.full((H,), -3.0))

    def forward(self, u, state):
        dt = self.log_dt.exp()[:, None]
        denom = 1 - dt * self.A / 2
        A_bar = (1 + dt * self.A / 2) / denom
        B_bar = dt * self.B / denom
        state = A_bar * state + B_bar * u[..., None]
        return (self.C * state).sum(dim=-1), state


def get_inputs():
    return [torch.randn(64, 256), torch.randn(64, 256, 64)]


def get_init_inputs():
    return [256, 64]
