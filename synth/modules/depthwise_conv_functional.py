import torch
from torch import Tensor
import torch.nn.functional as F

class Model(torch.nn.Module):
    def __init__(self, channels: int, kernel_size: int, stride: int, padding: int):
        super().__init__()
        self.channels = channels
        self.stride = stride
        self.padding = padding
        self.filters = torch.nn.Parameter(torch.randn(channels, 1, kernel_size, kernel_size))

    def forward(self, x: Tensor) -> Tensor:
        out = F.conv2d(x, self.filters, None, stride=self.stride, padding=self.padding, groups=self.channels)
        return F.hardswish(out)

def get_inputs():
    return [torch.randn(6, 50, 57, 59)]

def get_init_inputs():
    return [50, 5, 2, 2]
