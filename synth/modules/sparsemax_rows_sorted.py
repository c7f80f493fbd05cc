import torch
import torch.nn as nn


class Model(nn.Module):
    """Projection of each row on the simplex (sparsemax)."""

    def forward(self, z):
        zs, _ = torch.sort(z, dim=-1, descending=True)
        rank = torch.arange(1, z.size(-1) + 1, device=z.device, dtype=z.dtype)
        cum = zs.cumsum(-1) - 1
        support = (rank * zs > cum).sum(-1, keepdim=True)
        tau = cum.gather(-1, support - 1) / support
        return torch.clamp(z - tau, min=0)


def get_inputs():
    return [torch.randn(2000, 128)]


def get_init_inputs():
    return []
