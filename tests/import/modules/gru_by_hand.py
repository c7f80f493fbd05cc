"""Gated recurrent unit, one gate at a time, parameters as raw tensors."""
import math
import torch
from torch.nn import Module, Parameter, ParameterDict

FEATURES = 24
UNITS = 48
SEQ_LEN = 16
BATCH = 8


class Model(Module):
    def __init__(self, features: int, units: int):
        super().__init__()
        bound = 1 / math.sqrt(units)
        self.weights = ParameterDict({
            f"{kind}_{gate}": Parameter(torch.empty(rows, units).uniform_(-bound, bound))
            for gate in ("update", "reset", "cand")
            for kind, rows in (("w", features), ("u", units))
        })
        self.bias = ParameterDict({"b_" + g: Parameter(torch.zeros(units)) for g in ("update", "reset", "cand")})

    def _gate(self, name, x, h):
        return x @ self.weights["w_" + name] + h @ self.weights["u_" + name] + self.bias["b_" + name]

    def forward(self, sequence, reverse=False):
        h = torch.zeros(sequence.shape[0], self.bias["b_cand"].shape[0], dtype=sequence.dtype, device=sequence.device)
        steps = sequence.unbind(dim=1)
        if reverse:
            steps = steps[::-1]
        for x in steps:
            z = torch.sigmoid(self._gate("update", x, h))
            r = torch.sigmoid(self._gate("reset", x, h))
            candidate = torch.tanh(self._gate("cand", x, r * h))
            h = (1 - z) * h + z * candidate
        return h


def get_inputs():
    return [torch.randn(BATCH, SEQ_LEN, FEATURES)]


def get_init_inputs():
    return [FEATURES, UNITS]
