import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, span: int, hop: int, edge: int, gap: int, ceil_mode: bool):
        super().__init__()
        self.span = span
        self.hop = hop
        self.edge = edge
        self.gap = gap
        self.ceil_mode = ceil_mode

    def forward(self, trace: torch.Tensor) -> torch.Tensor:
        return torch.max_pool1d(trace, kernel_size=self.span, stride=self.hop, padding=self.edge,
                                dilation=self.gap, ceil_mode=self.ceil_mode)


def get_inputs():
    return [torch.randn(30, 25, 1013)]


def get_init_inputs():
    return [4, 3, 2, 2, True]
