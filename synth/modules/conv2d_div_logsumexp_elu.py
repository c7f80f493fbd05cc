import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Performs a convolution, divides by a constant, reduces with logsumexp over
    the channels and applies ELU.
    """

    def __init__(self, in_channels, out_channels, kernel_size, divisor, alpha):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2)
        self.divisor = divisor
        self.elu = nn.ELU(alpha)

    def forward(self, x):
        """
        Args:
            x (torch.Tensor): (batch_size, in_channels, height, width)
        Returns:
            torch.Tensor: (batch_size, 1, h, w)
        """
        x = self.conv(x)
        x = x / self.divisor
        x = torch.logsumexp(x, dim=1, keepdim=True)
        x = self.elu(x - 3.0)
        return x


batch_size = 9
in_channels, out_channels = 6, 40
height = width = 79
kernel_size = 4
divisor = 1.6


def get_inputs():
    x = torch.randn(batch_size, in_channels, height, width)
    return [x]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, divisor, 0.9]
