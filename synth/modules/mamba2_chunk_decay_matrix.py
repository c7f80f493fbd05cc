import torch
import torch.nn as nn


def segsum(x):
    """exp of it is the lower-triangular decay matrix of a scalar SSM"""
    T = x.size(-1)
    cs = torch.cumsum(x, dim=-1)
    diff = cs[..., :, None] - cs[..., None, :]
    mask = torch.tril(torch.ones(T, T, device=x.device, dtype=torch.bool))
    return diff.masked_fill(~mask, -torch.inf)


class Model(nn.Module):
    """Diagonal-block output of the SSD algorithm."""

    def __init__(self, nheads):
        super().__init__()
        self.A_log = nn.Parameter(torch.log(torch.arange(1, nheads + 1).float()))
        self.dt_bias = nn.Parameter(torch.zeros(nheads))

    def forward(self, X, dt, B, C):
        # X: b c l h p, dt: b c l h, B / C: b c l n
        dt = torch.nn.functional.softplus(dt + self.dt_bias)
        A = (-self.A_log.exp() * dt).permute(0, 1, 3, 2)
        L = torch.exp(segsum(A))
        G = torch.einsum("bcln,bcsn->bcls", C, B)
        return torch.einsum("bcls,bchls,bcshp->bclhp", G, L, X * dt.unsqueeze(-1))


def get_inputs():
    return [torch.randn(2, 6, 64, 8, 32), torch.randn(2, 6, 64, 8), torch.randn(2, 6, 64, 16), torch.randn(2, 6, 64, 16)]


def get_init_inputs():
    return [8]
