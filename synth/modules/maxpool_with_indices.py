import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, kernel_size, stride, padding):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        return F.max_pool2d(x, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding, return_indices=True)

def get_init_inputs():
    return [2, 2, 0]

def get_inputs():
    return [torch.randn(4, 20, 64, 68)]
