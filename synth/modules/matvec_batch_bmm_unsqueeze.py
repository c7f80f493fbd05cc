import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, mats, vecs):
        # (B, m, n) x (B, n) -> (B, m)
        return torch.bmm(mats, vecs.unsqueeze(-1)).squeeze(-1)


def get_inputs():
    return [torch.randn(64, 256, 310), torch.randn(64, 310)]


def get_init_inputs():
    return []
