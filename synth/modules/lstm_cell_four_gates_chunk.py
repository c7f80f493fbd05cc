import torch
import torch.nn as nn
from typing import Tuple
from torch import Tensor


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(4 * hidden_size, input_size) * 0.05)
        self.weight_hh = nn.Parameter(torch.randn(4 * hidden_size, hidden_size) * 0.05)
        self.bias_ih = nn.Parameter(torch.randn(4 * hidden_size) * 0.1)
        self.bias_hh = nn.Parameter(torch.randn(4 * hidden_size) * 0.1)

    def forward(self, input: Tensor, hx: Tensor, cx: Tensor) -> Tuple[Tensor, Tensor]:
        gates = torch.mm(input, self.weight_ih.t()) + self.bias_ih + torch.mm(hx, self.weight_hh.t()) + self.bias_hh
        ingate, forgetgate, cellgate, outgate = gates.chunk(4, 1)
        ingate = torch.sigmoid(ingate)
        forgetgate = torch.sigmoid(forgetgate)
        cellgate = torch.tanh(cellgate)
        outgate = torch.sigmoid(outgate)
        cy = (forgetgate * cx) + (ingate * cellgate)
        hy = outgate * torch.tanh(cy)
        return hy, cy


def get_inputs():
    return [torch.randn(256, 192), torch.randn(256, 320), torch.randn(256, 320)]


def get_init_inputs():
    return [192, 320]
