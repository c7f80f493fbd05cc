import torch
import torch.nn as nn


class Model(nn.Module):
    """Joint heat map loss, averaged over pixels, weighted per joint, averaged over the visible joints."""

    def forward(self, out, target, target_weight):
        per_joint = ((out - target) ** 2).flatten(2).mean(-1)
        return 0.5 * (per_joint * target_weight).sum(1) / target_weight.sum(1).clamp(min=1.0)


def get_inputs():
    s = (20, 17, 56, 56)
    return [torch.rand(s), torch.rand(s), torch.randint(0, 2, s[:2]).float()]


def get_init_inputs():
    return []
