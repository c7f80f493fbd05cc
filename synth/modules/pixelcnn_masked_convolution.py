import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedConv2d(nn.Conv2d):
    def __init__(self, mask_type, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.register_buffer('mask', self.weight.data.clone())
        _, _, kH, kW = self.weight.size()
        self.mask.fill_(1)
        self.mask[:, :, kH // 2, kW // 2 + (mask_type == 'B'):] = 0
        self.mask[:, :, kH // 2 + 1:] = 0

    def forward(self, x):
        return F.conv2d(x, self.weight * self.mask, self.bias, self.stride, self.padding)


class Model(nn.Module):
    def __init__(self, width, levels):
        super().__init__()
        self.a = MaskedConv2d('A', 1, width, 7, padding=3)
        self.b = MaskedConv2d('B', width, width, 3, padding=1)
        self.out = nn.Conv2d(width, levels, 1)

    def forward(self, x):
        h = torch.relu(self.a(x))
        h = torch.relu(self.b(h))
        return self.out(h)


def get_inputs():
    return [torch.rand(16, 1, 28, 28)]


def get_init_inputs():
    return [32, 64]
