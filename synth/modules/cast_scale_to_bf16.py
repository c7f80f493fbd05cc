import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, master: torch.Tensor, scale: float) -> torch.Tensor:
        return (master * scale).to(torch.bfloat16)


def get_inputs():
    return [torch.randn(1234, 987), 0.125]


def get_init_inputs():
    return []
