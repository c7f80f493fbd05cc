import torch
import torch.nn as nn


class Model(nn.Module):
    """Weight-only int4: two values in a byte, one scale and zero point a group of 64 input channels."""

    def __init__(self, in_features, out_features, group_size):
        super().__init__()
        self.group_size = group_size
        self.register_buffer("qweight", torch.randint(0, 256, (out_features, in_features // 2), dtype=torch.uint8))
        self.register_buffer("scales", torch.rand(out_features, in_features // group_size) * 0.01 + 0.001)
        self.register_buffer("zeros", torch.full((out_features, in_features // group_size), 8.0))

    def forward(self, x):
        low = self.qweight & 0xF
        high = self.qweight >> 4
        codes = torch.stack([low, high], dim=-1).flatten(1).float()
        codes = codes.view(codes.shape[0], -1, self.group_size)
        w = (codes - self.zeros.unsqueeze(-1)) * self.scales.unsqueeze(-1)
        return x @ w.flatten(1).t()


def get_inputs():
    return [torch.randn(128, 1024)]


def get_init_inputs():
    return [1024, 768, 64]
