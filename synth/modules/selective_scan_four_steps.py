import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Selective state space recurrence over a very short sequence (L = 4).

    x: (B, L, D);  delta, B and C are made from x.
    """

    def __init__(self, d_inner, d_state, dt_rank):
        super().__init__()
        self.x_proj = nn.Linear(d_inner, dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(dt_rank, d_inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, d_state + 1).float()).repeat(d_inner, 1))
        self.D = nn.Parameter(torch.ones(d_inner))
        self.sizes = [dt_rank, d_state, d_state]

    def forward(self, x):
        dt, Bm, Cm = self.x_proj(x).split(self.sizes, dim=-1)
        delta = F.softplus(self.dt_proj(dt))
        A = -torch.exp(self.A_log)
        h = torch.zeros(x.size(0), *A.shape, device=x.device)
        ys = []
        for t in range(x.size(1)):
            dA = torch.exp(delta[:, t, :, None] * A)
            h = dA * h + (delta[:, t] * x[:, t]).unsqueeze(-1) * Bm[:, t, None, :]
            ys.append((h * Cm[:, t, None, :]).sum(-1))
        return torch.stack(ys, dim=1) + x * self.D


def get_inputs():
    return [torch.randn(64, 4, 256)]


def get_init_inputs():
    return [256, 16, 16]
