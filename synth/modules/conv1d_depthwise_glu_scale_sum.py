import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Conformer-like convolution part: pointwise GLU, depthwise filter, SiLU, scale, masked mean over time."""

    def __init__(self, dim, kernel):
        super().__init__()
        self.pw = nn.Conv1d(dim, 2 * dim, 1)
        self.dw = nn.Conv1d(dim, dim, kernel, padding=(kernel - 1) // 2, groups=dim)
        self.scale = nn.Parameter(torch.ones(dim, 1))

    def forward(self, x, keep):
        h = F.glu(self.pw(x), dim=1) * keep.unsqueeze(1)
        h = F.silu(self.dw(h)) * self.scale
        h = h * keep.unsqueeze(1)
        return h.sum(-1) / keep.sum(-1, keepdim=True)


def get_inputs():
    return [torch.randn(10, 72, 410), (torch.arange(410) < torch.randint(200, 410, (10, 1))).float()]


def get_init_inputs():
    return [72, 15]
