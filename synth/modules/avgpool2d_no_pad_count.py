import torch
import torch.nn.functional as F

KERNEL = 3
STRIDE = 2
PAD = 1


class Model(torch.nn.Module):
    def __init__(self, k, s, p, include_pad):
        super(Model, self).__init__()
        self.k = k
        self.s = s
        self.p = p
        self.include_pad = include_pad

    def forward(self, x):
        return F.avg_pool2d(x, kernel_size=self.k, stride=self.s, padding=self.p, count_include_pad=self.include_pad)


def get_inputs():
    return [torch.randn(6, 26, 67, 71)]


def get_init_inputs():
    return [KERNEL, STRIDE, PAD, True]
