import torch
import torch.nn as nn


class Model(nn.Module):
    """Traffic forecasting: Chebyshev graph convolution of order 3, then a gated temporal convolution."""

    def __init__(self, c_in, c_out, kt, laplacian_size):
        super().__init__()
        self.theta = nn.Parameter(torch.randn(3, c_in, c_out) * 0.1)
        self.temporal = nn.Conv2d(c_out, 2 * c_out, (kt, 1))
        lap = torch.randn(laplacian_size, laplacian_size) * 0.03
        self.register_buffer("lap", (lap + lap.t()) / 2)

    def forward(self, x):
        # x: batch, channels, time, nodes
        x1 = torch.einsum("bctn,nm->bctm", x, self.lap)
        x2 = 2 * torch.einsum("bctn,nm->bctm", x1, self.lap) - x
        h = torch.einsum("kbctn,kcd->bdtn", torch.stack([x, x1, x2]), self.theta)
        p, q = self.temporal(torch.relu(h)).chunk(2, dim=1)
        return p * torch.sigmoid(q)


def get_inputs():
    return [torch.randn(8, 16, 12, 207)]


def get_init_inputs():
    return [16, 32, 3, 207]
