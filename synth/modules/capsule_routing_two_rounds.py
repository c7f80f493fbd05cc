import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Dynamic routing between capsules with two rounds of agreement."""

    def __init__(self, in_caps, in_dim, out_caps, out_dim):
        super().__init__()
        self.W = nn.Parameter(0.05 * torch.randn(out_caps, in_caps, in_dim, out_dim))

    @staticmethod
    def squash(s):
        n2 = s.pow(2).sum(-1, keepdim=True)
        return s * n2 / ((1 + n2) * n2.add(1e-9).sqrt())

    def forward(self, u):
        u_hat = torch.einsum("bid,oidk->boik", u, self.W)
        c = torch.full_like(u_hat[..., 0], 1.0 / self.W.size(0))
        v = self.squash(torch.einsum("boi,boik->bok", c, u_hat))
        b = torch.einsum("boik,bok->boi", u_hat, v)
        c = F.softmax(b, dim=1)
        v = self.squash(torch.einsum("boi,boik->bok", c, u_hat))
        return v.norm(dim=-1)


def get_inputs():
    return [torch.randn(16, 288, 8)]


def get_init_inputs():
    return [288, 8, 10, 16]
