from typing import List

import torch
import torch.nn.functional as F
from torch import nn, Tensor


class Model(nn.Module):
    def __init__(self, in_channels_list: List[int], out_channels: int):
        super().__init__()
        self.inner_blocks = nn.ModuleList()
        self.layer_blocks = nn.ModuleList()
        for in_channels in in_channels_list:
            self.inner_blocks.append(nn.Conv2d(in_channels, out_channels, 1))
            self.layer_blocks.append(nn.Conv2d(out_channels, out_channels, 3, padding=1))

    def forward(self, c3: Tensor, c4: Tensor, c5: Tensor):
        feats = [c3, c4, c5]
        last = self.inner_blocks[-1](feats[-1])
        results = [self.layer_blocks[-1](last)]
        for idx in range(len(feats) - 2, -1, -1):
            lateral = self.inner_blocks[idx](feats[idx])
            last = lateral + F.interpolate(last, size=lateral.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[idx](last))
        return results


def get_inputs():
    return [
        torch.randn(4, 48, 52, 40),
        torch.randn(4, 96, 26, 20),
        torch.randn(4, 160, 13, 10),
    ]


def get_init_inputs():
    return [[48, 96, 160], 56]
