import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int):
        super(Model, self).__init__()
        self.pool = nn.MaxPool2d(kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        """x: (N, C, H, W) -> (N, C, H_out, W_out)"""
        return self.pool(x)

def get_inputs():
    return [torch.randn(8, 40, 90, 101)]

def get_init_inputs():
    return [3, 2, 1, 2]
