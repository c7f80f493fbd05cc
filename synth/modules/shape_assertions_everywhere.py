import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_feat, n_rank, n_out):
        super().__init__()
        assert n_rank < n_feat, "rank must be below the width"
        self.n_feat, self.n_out = n_feat, n_out
        self.U = nn.Parameter(torch.randn(n_feat, n_rank) * 0.1)
        self.V = nn.Parameter(torch.randn(n_rank, n_out) * 0.1)

    def forward(self, x, gate):
        assert x.dim() == 3, f"want 3 dims, got {x.dim()}"
        b, t, f = x.shape
        assert f == self.n_feat
        assert gate.shape == (b, self.n_out)
        y = torch.matmul(torch.matmul(x, self.U), self.V)
        assert tuple(y.shape) == (b, t, self.n_out)
        return y * gate.sigmoid()[:, None, :]


def get_inputs():
    return [torch.randn(10, 200, 300), torch.randn(10, 240)]


def get_init_inputs():
    return [300, 32, 240]
