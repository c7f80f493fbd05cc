import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Traffic block: gated temporal convolution, then spatial mixing with a fixed dense graph."""

    def __init__(self, c_in, c_mid, kt):
        super().__init__()
        self.tconv = nn.Conv2d(c_in, 2 * c_mid, kernel_size=(kt, 1))
        self.theta = nn.Parameter(torch.randn(c_mid, c_mid) * 0.1)

    def forward(self, x, A_hat):
        # x: batch, channels, time, nodes
        x = F.glu(self.tconv(x), dim=1)
        x = torch.einsum("nm,bctm->bctn", A_hat, x)
        x = torch.einsum("bctn,cd->bdtn", x, self.theta)
        return F.relu(x)


def get_inputs():
    return [torch.randn(16, 16, 12, 228), torch.rand(228, 228) / 114]


def get_init_inputs():
    return [16, 32, 3]
