import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS = "200-tanh,150-softplus,100-elu,10-none"


def parse(spec):
    out = []
    for item in spec.split(","):
        n, act = item.strip().split("-")
        out.append((int(n), act))
    return out


class Model(nn.Module):
    def __init__(self, n_inputs, spec):
        super().__init__()
        self.linears = nn.ModuleList()
        self.acts = []
        prev = n_inputs
        for n, act in parse(spec):
            self.linears.append(nn.Linear(prev, n))
            self.acts.append(act)
            prev = n

    def forward(self, x):
        for lin, act in zip(self.linears, self.acts):
            x = lin(x)
            if act != "none":
                x = getattr(F, act)(x)
        return x


def get_inputs():
    return [torch.randn(1800, 77)]


def get_init_inputs():
    return [77, LAYERS]
