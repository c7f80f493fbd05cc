import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Attention with padding: mask is True where a key may be used."""

    def forward(self, query, key, value, valid):
        mask = valid[:, None, None, :]
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def get_inputs():
    valid = torch.arange(180)[None, :] < torch.randint(60, 181, (6, 1))
    return [torch.randn(6, 4, 120, 48), torch.randn(6, 4, 180, 48), torch.randn(6, 4, 180, 48), valid]


def get_init_inputs():
    return []
