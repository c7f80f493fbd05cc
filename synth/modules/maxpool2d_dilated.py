import torch
import torch.nn.functional as F

batch, planes, height, width = 5, 22, 88, 79

class Model(torch.nn.Module):
    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation

    def forward(self, x):
        out = F.max_pool2d(x, kernel_size=self.kernel_size, stride=self.stride,
                           padding=self.padding, dilation=self.dilation)
        return out

def get_inputs():
    return [torch.randn(batch, planes, height, width)]

def get_init_inputs():
    return [4, 1, 2, 2]
