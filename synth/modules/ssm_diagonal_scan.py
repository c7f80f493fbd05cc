import torch
import torch.nn as nn


class Model(nn.Module):
    """Diagonal state-space layer, the recurrence written out as a loop over the steps."""

    def __init__(self, d_model: int, n_state: int):
        super().__init__()
        self.log_a = nn.Parameter(torch.log(torch.arange(1, n_state + 1).float()).repeat(d_model, 1))
        self.log_dt = nn.Parameter(torch.rand(d_model) * -3.0 - 1.0)
        self.B = nn.Parameter(torch.randn(d_model, n_state) * 0.5)
        self.C = nn.Parameter(torch.randn(d_model, n_state) * 0.5)
        self.D = nn.Parameter(torch.ones(d_model))

    @property
    def discrete(self):
        dt = self.log_dt.exp().unsqueeze(-1)
        a = -self.log_a.exp()
        a_bar = torch.exp(a * dt)
        b_bar = (a_bar - 1) / a * self.B
        return a_bar, b_bar

    def forward(self, u):
        a_bar, b_bar = self.discrete
        b, length, d = u.shape
        h = u.new_zeros(b, d, a_bar.shape[1])
        ys = []
        for t in range(length):
            h = a_bar * h + b_bar * u[:, t].unsqueeze(-1)
            ys.append((h * self.C).sum(-1))
        return torch.stack(ys, 1) + u * self.D


def get_inputs():
    return [torch.randn(40, 8, 320)]


def get_init_inputs():
    return [320, 16]
