import torch
import torch.nn as nn


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: int):
        super().__init__()
        self.base = base
        self.lora_A = nn.Linear(base.in_features, r, bias=False)
        self.lora_B = nn.Linear(r, base.out_features, bias=False)
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x)) * self.scaling


class Model(nn.Module):
    """Query and value get low-rank updates while the key keeps its frozen projection."""

    def __init__(self, dim, r=8, alpha=16):
        super().__init__()
        self.q = LoRA(nn.Linear(dim, dim), r, alpha)
        self.k = nn.Linear(dim, dim)
        self.v = LoRA(nn.Linear(dim, dim), r, alpha)

    def forward(self, x):
        return {"query": self.q(x), "key": self.k(x), "value": self.v(x)}


def get_inputs():
    return [torch.randn(3, 150, 384)]


def get_init_inputs():
    return [384]
