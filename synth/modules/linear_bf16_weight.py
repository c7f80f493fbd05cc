# linear bf16 weight
import torch
from torch import nn, Tensor
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W = nn.Parameter((torch.randn(d_out, d_in) / d_in ** 0.5).to(torch.bfloat16))

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(F.linear(x, self.W))


def get_inputs():
    return [torch.randn(900, 768).to(torch.bfloat16)]


def get_init_inputs():
    return [768, 1344]
