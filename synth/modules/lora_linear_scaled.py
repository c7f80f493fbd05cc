import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, fan_in, fan_out, rank, alpha):
        super().__init__()
        self.base = nn.Linear(fan_in, fan_out)
        self.lora_A = nn.Parameter(torch.empty(rank, fan_in))
        self.lora_B = nn.Parameter(torch.empty(fan_out, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=5 ** 0.5)
        nn.init.normal_(self.lora_B, std=0.02)
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.t() @ self.lora_B.t()) * self.scaling


class Model(nn.Module):
    # An MLP of two adapted layers
    def __init__(self, dim, hidden, rank, alpha):
        super().__init__()
        self.up = LoRALinear(dim, hidden, rank, alpha)
        self.down = LoRALinear(hidden, dim, rank, alpha)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


def get_inputs():
    return [torch.randn(1100, 448)]


def get_init_inputs():
    return [448, 1200, 12, 24.0]
