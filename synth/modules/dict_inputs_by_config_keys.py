import torch
import torch.nn as nn

CFG = dict(hidden=192, slope=0.1, bias=True)


class Model(nn.Module):
    def __init__(self, in_dim, **overrides):
        super().__init__()
        cfg = {**CFG, **overrides}
        self.slope = cfg["slope"]
        self.lin_a = nn.Linear(in_dim, cfg["hidden"], bias=cfg["bias"])
        self.lin_b = nn.Linear(cfg["hidden"], in_dim, bias=cfg["bias"])

    def forward(self, x):
        y = nn.functional.leaky_relu(self.lin_a(x), self.slope)
        y = self.lin_b(y)
        return {"out": y, "residual": x - y, "energy": (x - y).pow(2).sum(-1)}


def get_inputs():
    return [torch.randn(512, 300)]


def get_init_inputs():
    return [300]
