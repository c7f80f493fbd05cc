import torch
import torch.nn as nn


class Model(nn.Module):
    """Row vector times matrix, v @ A, once per batch entry."""

    def __init__(self):
        super().__init__()

    def forward(self, v, A):
        return (v.unsqueeze(1) @ A).squeeze(1)


def get_inputs():
    batch, d_in, d_out = 18, 500, 640
    return [torch.randn(batch, d_in), torch.randn(batch, d_in, d_out)]


def get_init_inputs():
    return []
