import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Mistral-like sliding window: a token sees itself and the `window - 1` before it."""

    def __init__(self, window: int):
        super().__init__()
        self.window = window

    @staticmethod
    def window_mask(n, window, device):
        i = torch.arange(n, device=device).unsqueeze(1)
        j = torch.arange(n, device=device).unsqueeze(0)
        return (j <= i) & (i - j < window)

    def forward(self, q, k, v):
        mask = self.window_mask(q.shape[-2], self.window, q.device)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def get_inputs():
    return [torch.randn(2, 8, 320, 64) for _ in range(3)]


def get_init_inputs():
    return [96]
