from dataclasses import dataclass, field
from typing import List

import torch as th
import torch.nn as nn


@dataclass(frozen=True)
class MixerArgs:
    dim: int
    kernels: List[int] = field(default_factory=lambda: [5, 9])
    act: str = "gelu"

    @property
    def activation(self):
        return {"gelu": nn.GELU, "silu": nn.SiLU}[self.act]()


class Mixing(nn.Module):
    def __init__(self, args: MixerArgs, k: int):
        super().__init__()
        self.spatial = nn.Conv2d(args.dim, args.dim, k, padding="same", groups=args.dim)
        self.act = args.activation
        self.channel = nn.Conv2d(args.dim, args.dim, 1)

    def forward(self, x: th.Tensor) -> th.Tensor:
        x = self.act(self.spatial(x)) + x
        return self.act(self.channel(x))


class Model(nn.Module):
    def __init__(self, dim: int, act: str):
        super().__init__()
        args = MixerArgs(dim, act=act)
        self.stages = nn.ModuleList(Mixing(args, k) for k in args.kernels)

    def forward(self, x: th.Tensor) -> th.Tensor:
        for stage in self.stages:
            x = stage(x)
        return x


def get_inputs():
    return [th.randn(3, 52, 40, 40)]


def get_init_inputs():
    return [52, "silu"]
