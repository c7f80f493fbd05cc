from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    batch: int = 50
    width: int = 8111
    threshold: float = 0.2
    value: float = -0.1


cfg = Config()


class Model(nn.Module):
    def __init__(self, threshold: float, value: float):
        super().__init__()
        self.threshold, self.value = threshold, value

    def forward(self, x):
        return nn.functional.threshold(x, self.threshold, self.value)


def get_inputs():
    return [torch.randn(cfg.batch, cfg.width)]


def get_init_inputs():
    return [cfg.threshold, cfg.value]
