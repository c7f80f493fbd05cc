import torch
import torch.nn as nn


class Model(nn.Module):
    """Static cache: the new key is written by position with a one-hot blend, then scored against the query."""

    def __init__(self):
        super().__init__()

    def forward(self, q, k_new, k_cache, cache_position):
        slots = torch.arange(k_cache.size(2), device=k_cache.device)
        here = (slots[None, :] == cache_position[:, None])[:, None, :, None]
        k_cache = torch.where(here, k_new, k_cache)
        past = slots[None, :] <= cache_position[:, None]
        scores = (q @ k_cache.transpose(-1, -2)) * (q.size(-1) ** -0.5)
        scores = scores.masked_fill(~past[:, None, None, :], torch.finfo(scores.dtype).min)
        return k_cache, scores.softmax(dim=-1)


def get_inputs():
    return [torch.randn(6, 8, 1, 64), torch.randn(6, 8, 1, 64), torch.randn(6, 8, 400, 64), torch.randint(0, 400, (6,))]


def get_init_inputs():
    return []
