import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Convolution followed by post operations named in a list."""

    def __init__(self, in_channels, out_channels, kernel_size, post_ops):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.post_ops = list(post_ops)

    def forward(self, x):
        x = self.conv(x)
        for op in self.post_ops:
            if op == "double":
                x = x * 2
            elif op == "gelu":
                x = F.gelu(x)
            elif op == "centre":
                x = x - x.mean(dim=1, keepdim=True)
            elif op == "pool":
                x = F.max_pool2d(x, 2)
        return x


def get_inputs():
    return [torch.randn(8, 6, 50, 50)]


def get_init_inputs():
    return [6, 28, 3, ["double", "gelu", "centre", "pool"]]
