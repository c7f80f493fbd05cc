import torch
import torch.nn as nn
import torch.nn.functional as F

N, CIN, COUT, S = 6, 14, 18, 25


class Model(nn.Module):
    def __init__(self, cin, cout, k, stride, lam):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cin, cout, k, k) * (cin * k * k) ** -0.5)
        self.stride = stride
        self.lam = lam

    def forward(self, x):
        y = F.conv_transpose2d(x, self.weight, bias=None, stride=self.stride, padding=1)
        y = F.softshrink(y, self.lam)
        y = F.max_pool2d(y, 2)
        return y - y.mean(dim=(0, 2, 3), keepdim=True)


def get_inputs():
    return [torch.randn(N, CIN, S, S)]


def get_init_inputs():
    return [CIN, COUT, 4, 2, 0.1]
