import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_dim, out_dim, rank=8, alpha=16):
        super().__init__()
        self.base = nn.Linear(in_dim, out_dim)
        self.lora_A = nn.Parameter(torch.randn(rank, in_dim) * 0.01)
        self.lora_B = nn.Parameter(torch.randn(out_dim, rank) * 0.01)
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


def get_inputs():
    return [torch.randn(512, 640)]


def get_init_inputs():
    return [640, 768, 12]
