import torch
import torch.nn as nn


class Model(nn.Module):
    """Decode attention over a key/value cache held in int8 with one scale a (token, head)."""

    def forward(self, query, k_int8, k_scale, v_int8, v_scale, lengths):
        # query (B, H, D); caches (B, T, H, D); scales (B, T, H)
        D = query.shape[-1]
        k = k_int8.float() * k_scale[..., None]
        v = v_int8.float() * v_scale[..., None]
        logits = (query[:, None] * k).sum(-1) / D ** 0.5
        valid = torch.arange(k.shape[1], device=k.device)[None, :, None] < lengths[:, None, None]
        logits = torch.where(valid, logits, torch.full_like(logits, -1e30))
        p = logits.softmax(dim=1)
        return (p[..., None] * v).sum(dim=1)


def get_inputs():
    B, T, H, D = 8, 256, 8, 64
    return [
        torch.randn(B, H, D),
        torch.randint(-127, 128, (B, T, H, D)).to(torch.int8),
        torch.rand(B, T, H) * 0.02,
        torch.randint(-127, 128, (B, T, H, D)).to(torch.int8),
        torch.rand(B, T, H) * 0.02,
        torch.randint(1, T + 1, (B,)),
    ]


def get_init_inputs():
    return []
