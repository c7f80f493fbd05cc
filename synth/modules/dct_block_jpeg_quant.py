import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """8x8 DCT of image tiles, quantisation by a table, and the way back."""

    def __init__(self, quality):
        super().__init__()
        k = torch.arange(8.0)
        basis = torch.cos((2 * k[None, :] + 1) * k[:, None] * math.pi / 16) * 0.5
        basis[0] = basis[0] / math.sqrt(2)
        self.register_buffer("D", basis)
        self.register_buffer("table", (1 + k[:, None] + k[None, :]) * quality)

    def forward(self, gray):
        b, h, w = gray.shape
        tiles = gray.view(b, h // 8, 8, w // 8, 8).permute(0, 1, 3, 2, 4)
        coef = self.D @ (tiles - 128.0) @ self.D.t()
        coef = torch.round(coef / self.table) * self.table
        tiles = self.D.t() @ coef @ self.D + 128.0
        return tiles.permute(0, 1, 3, 2, 4).reshape(b, h, w)


def get_inputs():
    return [torch.rand(6, 256, 320) * 255]


def get_init_inputs():
    return [4.0]
