import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, is_causal: bool, scale: float):
        super().__init__()
        self.is_causal = is_causal
        self.scale = scale

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=self.is_causal, scale=self.scale)


def get_inputs():
    return [torch.randn(3, 8, 256, 64) for _ in range(3)]


def get_init_inputs():
    return [True, 0.1]
