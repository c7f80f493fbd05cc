# maxpool2d args
import torch
from torch import Tensor
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, kernel: int, stride: int, pad: int, ceil_mode: bool):
        super(Model, self).__init__()
        self.kernel = kernel
        self.stride = stride
        self.pad = pad
        self.ceil_mode = ceil_mode

    def forward(self, images: Tensor) -> Tensor:
        return F.max_pool2d(images, kernel_size=self.kernel, stride=self.stride, padding=self.pad, ceil_mode=self.ceil_mode)

def get_inputs():
    return [torch.randn(6, 18, 95, 101)]

def get_init_inputs():
    return [3, 2, 1, True]
