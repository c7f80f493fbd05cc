from typing import List, Tuple

import torch
import torch.nn as nn
from torch import Tensor


class LSTMCell(nn.Module):
    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.empty(4 * hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.empty(4 * hidden_size, hidden_size))
        self.bias = nn.Parameter(torch.zeros(4 * hidden_size))
        nn.init.xavier_uniform_(self.weight_ih)
        nn.init.orthogonal_(self.weight_hh)

    def forward(self, x: Tensor, state: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tensor]:
        hx, cx = state
        gates = torch.mm(x, self.weight_ih.t()) + torch.mm(hx, self.weight_hh.t()) + self.bias
        i, f, g, o = gates.chunk(4, 1)
        cy = torch.sigmoid(f) * cx + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cy), cy


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, num_layers: int):
        super().__init__()
        self.cells = nn.ModuleList(
            [LSTMCell(input_size if i == 0 else hidden_size, hidden_size) for i in range(num_layers)]
        )

    def forward(self, x: Tensor, h0: Tensor, c0: Tensor) -> Tensor:
        seq: List[Tensor] = list(x.unbind(1))
        for i, cell in enumerate(self.cells):
            h, c = h0[i], c0[i]
            outs = []
            for xt in seq:
                h, c = cell(xt, (h, c))
                outs.append(h)
            seq = outs
        return torch.stack(seq, dim=1)


def get_inputs():
    b = 180
    return [torch.randn(b, 4, 72), torch.zeros(2, b, 88), torch.zeros(2, b, 88)]


def get_init_inputs():
    return [72, 88, 2]
