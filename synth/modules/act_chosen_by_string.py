import torch
import torch.nn as nn
import torch.nn.functional as F


def get_activation(name: str):
    if name == "relu":
        return F.relu
    elif name == "gelu":
        return F.gelu
    elif name in ("silu", "swish"):
        return F.silu
    raise ValueError(f"unknown activation {name}")


class Model(nn.Module):
    def __init__(self, name: str):
        super().__init__()
        self.fn = get_activation(name)

    def forward(self, x):
        return self.fn(x)


def get_inputs():
    return [torch.randn(77, 30000)]


def get_init_inputs():
    return ["swish"]
