"""Library convolution, then frozen batch norm in place."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def batch_norm(y_ptr, gamma_ptr, beta_ptr, mean_ptr, var_ptr, eps, channels, area,
               BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    c = plane % channels
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    scale = tl.load(gamma_ptr + c) / tl.sqrt(tl.load(var_ptr + c) + eps)
    at = y_ptr + plane.to(tl.int64) * area + i
    y = tl.load(at, mask=i < area)
    tl.store(at, (y - tl.load(mean_ptr + c)) * scale + tl.load(beta_ptr + c), mask=i < area)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1)
        self.norm = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        x = x.contiguous()
        conv, norm = self.conv, self.norm
        co, ci = conv.weight.shape[:2]
        y = F.conv2d(x, conv.weight, conv.bias).contiguous()
        area = y.shape[2] * y.shape[3]
        batch_norm[(triton.cdiv(area, 1024), y.shape[0] * co)](
            y, norm.weight, norm.bias, norm.running_mean, norm.running_var, norm.eps, co, area,
            BLOCK=1024)
        return y
