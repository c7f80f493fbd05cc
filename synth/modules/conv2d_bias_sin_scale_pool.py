import torch
import torch.nn as nn


class Model(nn.Module):
    """Model that convolves, adds an extra bias, takes the sine, scales and average-pools.

    Args:
        cin (int): input channels
        cout (int): output channels
        k (int): kernel size
        omega (float): frequency of the sine
        pool (int): window of the pooling
    """

    def __init__(self, cin, cout, k, omega=2.0, pool=2):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, k, padding="same", bias=False)
        self.extra_bias = nn.Parameter(torch.randn(cout, 1, 1) * 0.1)
        self.omega = omega
        self.pool = nn.AvgPool2d(pool)

    def forward(self, x):
        y = self.conv(x) + self.extra_bias
        y = torch.sin(self.omega * y)
        return self.pool(y / self.omega)


def get_inputs():
    return [torch.rand(6, 10, 66, 50) - 0.5]


def get_init_inputs():
    return [10, 36, 5, 3.1, 2]
