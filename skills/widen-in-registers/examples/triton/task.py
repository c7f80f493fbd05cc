"""A gated activation in bf16."""
import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT = 1048576


class Model(nn.Module):
    def forward(self, x, gate):
        return F.silu(gate) * x


def get_inputs():
    return [torch.randn(COUNT).to(torch.bfloat16), torch.randn(COUNT).to(torch.bfloat16)]
