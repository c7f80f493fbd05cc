from typing import List, Tuple

import torch
import torch.nn as nn
from torch import Tensor

INPUT, HIDDEN, TIME, BATCH = 16, 32, 10, 8


class LayerNormLSTMCell(nn.Module):
    """LSTM cell with layer normalisation of both projections, and peepholes on the cell state."""

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(4 * hidden_size, input_size) * 0.2)
        self.weight_hh = nn.Parameter(torch.randn(4 * hidden_size, hidden_size) * 0.2)
        self.peephole = nn.Parameter(torch.randn(3, hidden_size) * 0.1)
        self.layernorm_i = nn.LayerNorm(4 * hidden_size)
        self.layernorm_h = nn.LayerNorm(4 * hidden_size)
        self.layernorm_c = nn.LayerNorm(hidden_size)

    def forward(self, input: Tensor, state: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        hx, cx = state
        igates = self.layernorm_i(torch.mm(input, self.weight_ih.t()))
        hgates = self.layernorm_h(torch.mm(hx, self.weight_hh.t()))
        ingate, forgetgate, cellgate, outgate = (igates + hgates).chunk(4, 1)
        p_i, p_f, p_o = self.peephole.unbind(0)
        ingate = torch.sigmoid(ingate + p_i * cx)
        forgetgate = torch.sigmoid(forgetgate + p_f * cx)
        cellgate = torch.tanh(cellgate)
        cy = self.layernorm_c((forgetgate * cx) + (ingate * cellgate))
        outgate = torch.sigmoid(outgate + p_o * cy)
        hy = outgate * torch.tanh(cy)
        return hy, (hy, cy)


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.fwd = LayerNormLSTMCell(input_size, hidden_size)
        self.bwd = LayerNormLSTMCell(input_size, hidden_size)

    def _run(self, cell, inputs: List[Tensor]) -> List[Tensor]:
        zeros = torch.zeros(inputs[0].size(0), cell.weight_hh.size(1), device=inputs[0].device)
        state = (zeros, zeros)
        outputs = torch.jit.annotate(List[Tensor], [])
        for x in inputs:
            out, state = cell(x, state)
            outputs += [out]
        return outputs

    def forward(self, x: Tensor) -> Tensor:
        steps = list(x.unbind(0))
        forward = self._run(self.fwd, steps)
        backward = self._run(self.bwd, list(reversed(steps)))
        backward.reverse()
        return torch.stack([torch.cat(p, dim=-1) for p in zip(forward, backward)])


def get_inputs():
    return [torch.randn(TIME, BATCH, INPUT)]


def get_init_inputs():
    return [INPUT, HIDDEN]
