"""A ReLU gate in bf16."""
import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT = 2097152


class Model(nn.Module):
    def forward(self, x, gate):
        return F.relu(gate) * x


def get_inputs():
    return [torch.randn(COUNT).to(torch.bfloat16), torch.randn(COUNT).to(torch.bfloat16)]
