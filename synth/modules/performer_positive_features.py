import torch
import torch.nn as nn


class Model(nn.Module):
    """FAVOR+ softmax kernel features and linear attention without mask."""

    def __init__(self, d_head, n_features):
        super().__init__()
        self.register_buffer("omega", torch.randn(n_features, d_head))
        self.eps = 1e-4

    def phi(self, x):
        x = x * x.shape[-1] ** -0.25
        wx = torch.einsum("bhnd,md->bhnm", x, self.omega)
        sq = x.pow(2).sum(-1, keepdim=True) / 2
        stab = wx.amax(dim=(-1, -2), keepdim=True)
        return self.omega.shape[0] ** -0.5 * (torch.exp(wx - sq - stab) + self.eps)

    def forward(self, q, k, v):
        q, k = self.phi(q), self.phi(k)
        kv = torch.einsum("bhnm,bhne->bhme", k, v)
        z = 1.0 / torch.einsum("bhnm,bhm->bhn", q, k.sum(dim=2))
        return torch.einsum("bhnm,bhme,bhn->bhne", q, kv, z)


def get_inputs():
    return [torch.randn(2, 4, 500, 32), torch.randn(2, 4, 500, 32), torch.randn(2, 4, 500, 32)]


def get_init_inputs():
    return [32, 96]
