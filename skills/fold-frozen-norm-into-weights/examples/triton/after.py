"""Frozen batch norm folded into the convolution, in every call."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def fold(w_ptr, bias_ptr, gamma_ptr, beta_ptr, mean_ptr, var_ptr, new_w_ptr, new_bias_ptr, eps, ci,
         BLOCK: tl.constexpr):
    o = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    scale = tl.load(gamma_ptr + o) / tl.sqrt(tl.load(var_ptr + o) + eps)
    w = tl.load(w_ptr + o * ci + k, mask=k < ci)
    tl.store(new_w_ptr + o * ci + k, w * scale, mask=k < ci)
    bias = tl.load(bias_ptr + o) - tl.load(mean_ptr + o)
    tl.store(new_bias_ptr + o, bias * scale + tl.load(beta_ptr + o))


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1)
        self.norm = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        x = x.contiguous()
        conv, norm = self.conv, self.norm
        co, ci = conv.weight.shape[:2]
        weight, bias = torch.empty_like(conv.weight), torch.empty_like(conv.bias)
        fold[(co,)](conv.weight, conv.bias, norm.weight, norm.bias, norm.running_mean,
                    norm.running_var, weight, bias, norm.eps, ci,
                    BLOCK=triton.next_power_of_2(ci))
        return F.conv2d(x, weight, bias)
