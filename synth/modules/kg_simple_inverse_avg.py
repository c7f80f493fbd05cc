import torch
import torch.nn as nn


class Model(nn.Module):
    """SimplE scores: the mean of a forward and an inverse trilinear product, clamped."""

    def forward(self, h_as_head, h_as_tail, t_as_head, t_as_tail, r, r_inv):
        s1 = torch.einsum("nd,nd,nd->n", h_as_head, r, t_as_tail)
        s2 = (t_as_head * r_inv * h_as_tail).sum(dim=-1)
        return ((s1 + s2) / 2).clamp(-20, 20)


def get_inputs():
    return [torch.randn(2900, 160) for _ in range(6)]


def get_init_inputs():
    return []
