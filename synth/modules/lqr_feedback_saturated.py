import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear state feedback with saturation, one step of the plant and the running cost."""

    def __init__(self, nx, nu, u_max):
        super().__init__()
        self.A = nn.Parameter(torch.eye(nx) * 0.95 + torch.randn(nx, nx) * 0.01)
        self.B = nn.Parameter(torch.randn(nx, nu) * 0.1)
        self.K = nn.Parameter(torch.randn(nu, nx) * 0.2)
        self.register_buffer("q", torch.linspace(0.1, 1.0, nx))
        self.u_max = u_max

    def forward(self, x, ref):
        u = -(x - ref) @ self.K.T
        u = torch.clamp(u, -self.u_max, self.u_max)
        x_next = x @ self.A.T + u @ self.B.T
        cost = (self.q * (x_next - ref) ** 2).sum(-1) + 0.01 * (u ** 2).sum(-1)
        return x_next, u, cost


def get_inputs():
    return [torch.randn(10000, 12), torch.randn(10000, 12)]


def get_init_inputs():
    return [12, 4, 1.5]
