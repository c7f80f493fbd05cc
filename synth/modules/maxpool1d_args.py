import torch
import torch.nn.functional as F

class Model(torch.nn.Module):
    """Max pooling over time."""

    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation

    def forward(self, x):
        return F.max_pool1d(
            x,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
        )

def get_inputs():
    return [torch.randn(12, 40, 2100)]

def get_init_inputs():
    return [5, 3, 2, 1]
