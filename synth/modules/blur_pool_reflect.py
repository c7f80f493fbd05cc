import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Anti-aliased downsampling: ReLU, dense max pool, then a strided binomial filter."""

    def __init__(self, channels, stride=2):
        super().__init__()
        a = torch.tensor([1.0, 3.0, 3.0, 1.0])
        filt = a[:, None] * a[None, :]
        filt = filt / filt.sum()
        self.register_buffer('filt', filt[None, None].repeat(channels, 1, 1, 1))
        self.stride = stride

    def forward(self, inp):
        x = F.max_pool2d(F.relu(inp), kernel_size=2, stride=1)
        x = F.pad(x, (1, 2, 1, 2), mode='replicate')
        return F.conv2d(x, self.filt, stride=self.stride, groups=inp.shape[1])


def get_inputs():
    return [torch.randn(5, 40, 75, 81)]


def get_init_inputs():
    return [40]
