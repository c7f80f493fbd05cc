import torch
from torch import nn, Tensor


class Model(nn.Module):
    def __init__(self, d_model: int, layer_scale: float = 1e-1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps=1e-6)
        self.proj = nn.Linear(d_model, d_model)
        self.layer_scale = nn.Parameter(layer_scale * torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        residual = x
        x = self.norm(x)
        x = self.proj(x)
        x = nn.functional.selu(x)
        x = self.layer_scale * x
        return residual + x


def get_inputs():
    return [torch.randn(12, 96, 320)]


def get_init_inputs():
    return [320]
