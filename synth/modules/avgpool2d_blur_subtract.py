import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """High-pass filter: the image less its local mean, times an amount."""

    def __init__(self, kernel_size: int, stride: int, padding: int, amount: float):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.amount = amount

    def forward(self, image):
        blurred = F.avg_pool2d(image, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)
        return image + self.amount * (image - blurred)

def get_inputs():
    return [torch.rand(5, 3, 170, 230)]

def get_init_inputs():
    return [5, 1, 2, 0.75]