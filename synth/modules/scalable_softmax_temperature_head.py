import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Per-head learned temperature on unit-length queries and keys (SwinV2-like attention core)."""

    def __init__(self, heads):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones((heads, 1, 1))))

    def forward(self, q, k, v, *, rel_bias=None):
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        logit_scale = torch.clamp(self.logit_scale, max=4.6052).exp()
        attn = attn * logit_scale
        if rel_bias is not None:
            attn = attn + 16 * torch.sigmoid(rel_bias)
        return F.softmax(attn, dim=-1) @ v


def get_inputs():
    return [torch.randn(64, 6, 64, 32) for _ in range(3)]


def get_init_inputs():
    return [6]
