import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Attention without softmax: phi(q) (phi(k)^T v), normalised."""

    def forward(self, q, k, v):
        q = F.elu(q) + 1
        k = F.elu(k) + 1
        kv = torch.einsum("bnd,bne->bde", k, v)
        z = 1.0 / (torch.einsum("bnd,bd->bn", q, k.sum(dim=1)) + 1e-6)
        return torch.einsum("bnd,bde,bn->bne", q, kv, z)


def get_inputs():
    return [torch.randn(8, 400, 64), torch.randn(8, 400, 64), torch.randn(8, 400, 48)]


def get_init_inputs():
    return []
