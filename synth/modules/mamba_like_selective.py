import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d_model, d_inner, d_state):
        super().__init__()
        self.d_state = d_state
        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=False)
        self.x_proj = nn.Linear(d_inner, 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(d_inner, d_inner)
        A = torch.arange(1, d_state + 1, dtype=torch.float32).repeat(d_inner, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(d_inner))
        self.out_proj = nn.Linear(d_inner, d_model, bias=False)

    def forward(self, x):
        x, z = self.in_proj(x).chunk(2, dim=-1)
        x = F.silu(x)
        B, C = self.x_proj(x).chunk(2, dim=-1)
        delta = F.softplus(self.dt_proj(x))
        A = -torch.exp(self.A_log)
        state = torch.zeros(x.shape[0], x.shape[2], self.d_state, device=x.device, dtype=x.dtype)
        ys = []
        for i in range(x.shape[1]):
            dA = torch.exp(delta[:, i, :, None] * A)
            dBx = (delta[:, i] * x[:, i]).unsqueeze(-1) * B[:, i, None, :]
            state = dA * state + dBx
            ys.append(torch.einsum("bdn,bn->bd", state, C[:, i]))
        y = torch.stack(ys, dim=1) + self.D * x
        return self.out_proj(y * F.silu(z))


def get_inputs():
    return [torch.randn(120, 5, 96)]


def get_init_inputs():
    return [96, 150, 8]
