import torch
from torch import nn, Tensor

BATCH = 2
CHANNELS = 48
SIZE = 28


class LayerNorm2d(nn.LayerNorm):
    """LayerNorm over the channels of an NCHW map."""

    def forward(self, x: Tensor) -> Tensor:
        x = x.permute(0, 2, 3, 1)
        x = super().forward(x)
        return x.permute(0, 3, 1, 2)


class Model(nn.Module):
    def __init__(self, dim: int, layer_scale_init: float = 1e-2) -> None:
        super().__init__()
        self.stem_norm = LayerNorm2d(dim)
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(layer_scale_init * torch.ones(dim)) if layer_scale_init > 0 else None

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem_norm(x)
        residual = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)  # channels last for the linear layers
        x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
        if self.gamma is not None:
            x = self.gamma * x
        return residual + x.permute(0, 3, 1, 2)


def get_inputs() -> list[Tensor]:
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs() -> list:
    return [CHANNELS]
