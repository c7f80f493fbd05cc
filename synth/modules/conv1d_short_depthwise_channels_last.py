import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The short causal depthwise convolution of state space blocks, (B, L, D) layout, with SiLU."""

    def __init__(self, d_inner: int, d_conv: int = 4):
        super().__init__()
        self.conv1d = nn.Conv1d(d_inner, d_inner, d_conv, groups=d_inner, padding=d_conv - 1, bias=True)

    def forward(self, u):
        seqlen = u.shape[1]
        u = self.conv1d(u.transpose(1, 2))[..., :seqlen]
        return F.silu(u.transpose(1, 2))


def get_inputs():
    return [torch.randn(4, 300, 512)]


def get_init_inputs():
    return [512]
