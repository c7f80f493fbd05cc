import torch
import torch.nn as nn


class QuickGELU(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * torch.sigmoid(1.702 * x)


class Model(nn.Module):
    def __init__(self, width: int, expansion: int):
        super().__init__()
        self.c_fc = nn.Linear(width, width * expansion)
        self.gelu = QuickGELU()
        self.gamma = nn.Parameter(torch.ones(width * expansion) * 0.2)

    def forward(self, x: torch.Tensor):
        return self.gelu(self.c_fc(x)) * self.gamma


def get_inputs():
    return [torch.randn(50, 16, 192)]


def get_init_inputs():
    return [192, 4]
