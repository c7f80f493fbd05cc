import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """One step of a selective state-space layer with a diagonal transition."""

    def __init__(self, d_inner, d_state, dt_rank):
        super().__init__()
        self.x_proj = nn.Linear(d_inner, dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(dt_rank, d_inner)
        A = torch.arange(1, d_state + 1, dtype=torch.float32).repeat(d_inner, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(d_inner))
        self.sections = [dt_rank, d_state, d_state]

    def forward(self, x, state):
        dt, B, C = torch.split(self.x_proj(x), self.sections, dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        dA = torch.exp(dt.unsqueeze(-1) * -torch.exp(self.A_log))
        state = state * dA + (dt * x).unsqueeze(-1) * B.unsqueeze(1)
        y = (state * C.unsqueeze(1)).sum(-1) + self.D * x
        return y, state


def get_inputs():
    return [torch.randn(240, 336), torch.randn(240, 336, 12)]


def get_init_inputs():
    return [336, 12, 20]
