import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Partial convolution: holes are zeroed, the response is renormalised by the valid count of its window."""

    def __init__(self, cin, cout, k):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, k, padding=k // 2, bias=False)
        self.bias = nn.Parameter(torch.randn(1, cout, 1, 1) * 0.1)
        self.k = k

    def forward(self, image, mask):
        cover = F.avg_pool2d(mask, self.k, stride=1, padding=self.k // 2)
        y = self.conv(image * mask) / cover.clamp(min=1.0 / self.k ** 2)
        valid = cover > 0
        return torch.where(valid, y + self.bias, torch.zeros_like(y))


def get_inputs():
    return [torch.randn(6, 3, 88, 72), (torch.rand(6, 1, 88, 72) > 0.3).float()]


def get_init_inputs():
    return [3, 22, 3]
