# maxpool3d all args
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, kernel_size, stride, padding, dilation, ceil_mode):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.ceil_mode = ceil_mode

    def forward(self, x):
        return F.max_pool3d(x, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding,
                            dilation=self.dilation, ceil_mode=self.ceil_mode)

def get_inputs():
    return [torch.randn(2, 7, 26, 41, 43)]

def get_init_inputs():
    return [2, 2, 0, 1, True]
