import torch
import torch.nn as nn

CHANNELS = 48
KERNEL = 5
GROUP_CHANNELS = 16
SIZE = 24

class involution(nn.Module):

    def __init__(self, channels, kernel_size, stride):
        super(involution, self).__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.channels = channels
        reduction_ratio = 4
        self.group_channels = GROUP_CHANNELS
        self.groups = self.channels // self.group_channels
        self.conv1 = nn.Sequential(nn.Conv2d(channels, channels // reduction_ratio, 1), nn.BatchNorm2d(channels // reduction_ratio), nn.ReLU())
        self.conv2 = nn.Conv2d(channels // reduction_ratio, kernel_size**2 * self.groups, 1)
        if stride > 1:
            self.avgpool = nn.AvgPool2d(stride, stride)
        self.unfold = nn.Unfold(kernel_size, 1, (kernel_size-1)//2, stride)

    def forward(self, x):
        weight = self.conv2(self.conv1(x if self.stride == 1 else self.avgpool(x)))
        b, c, h, w = weight.shape
        weight = weight.view(b, self.groups, self.kernel_size**2, h, w).unsqueeze(2)
        out = self.unfold(x).view(b, self.groups, self.group_channels, self.kernel_size**2, h, w)
        out = (weight * out).sum(dim=3).view(b, self.channels, h, w)
        return out

class Model(nn.Sequential):
    def __init__(self, channels, kernel):
        super().__init__(involution(channels, kernel, 1), nn.BatchNorm2d(channels), nn.Hardswish(), involution(channels, 3, 2))

def get_inputs():
    return [torch.randn(2, CHANNELS, SIZE, SIZE)]

def get_init_inputs():
    return [CHANNELS, KERNEL]
