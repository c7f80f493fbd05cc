import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q, k, v, mask):
        out = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), attn_mask=mask)
        return out.to(q.dtype)


def get_inputs():
    q, k, v = (torch.randn(2, 4, 128, 64).half() for _ in range(3))
    return [q, k, v, torch.randn(1, 4, 128, 128)]


def get_init_inputs():
    return []
