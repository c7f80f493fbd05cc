import torch
import torch.nn as nn


class Model(nn.Module):
    """Mixes counters and a seed by xorshift and small multiplications; low bits become uniform floats."""

    def __init__(self, rounds=3):
        super().__init__()
        self.rounds = rounds

    def forward(self, counter, seed: int):
        x = (counter ^ seed) & 0xFFFFFF
        for r in range(self.rounds):
            x = (x * 0x5BD1 + r) & 0xFFFFFF
            x = x ^ (x >> 7)
        return x, (x & 0xFFFF).float() / 65536.0


def get_inputs():
    return [torch.randint(0, 1 << 24, (300, 1111), dtype=torch.int64), 90210]


def get_init_inputs():
    return [4]
