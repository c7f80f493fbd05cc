import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_rows, out_rows):
        super().__init__()
        self.factor = nn.Parameter(torch.randn(out_rows, in_rows) * 0.05)

    def forward(self, core):
        # mode-2 product of a third order tensor: (i, j, k) -> (i, o, k)
        return torch.einsum("ijk,oj->iok", core, self.factor)


def get_inputs():
    return [torch.randn(40, 200, 350)]


def get_init_inputs():
    return [200, 128]
