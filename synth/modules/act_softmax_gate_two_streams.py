import torch
import torch.nn as nn


class Model(nn.Module):
    """Two streams mixed by a softmax over the pair of their logits."""

    def forward(self, a, b, la, lb):
        w = torch.stack([la, lb], dim=0).softmax(dim=0)
        return w[0] * a + w[1] * b


def get_inputs():
    return [torch.randn(700, 800) for _ in range(4)]


def get_init_inputs():
    return []
