import torch
import torch.nn as nn

LEVELS = [-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0, 0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.7230, 1.0]


class Model(nn.Module):
    """Two 4-bit codes a byte -> values by codebook, times the block's absmax."""

    def __init__(self, block):
        super().__init__()
        self.block = block
        self.register_buffer("levels", torch.tensor(LEVELS))

    def forward(self, packed, absmax):
        high = self.levels[(packed >> 4).long()]
        low = self.levels[(packed & 15).long()]
        codes = torch.stack([high, low], dim=-1).view(-1, self.block)
        return codes * absmax.unsqueeze(1)


def get_inputs():
    n = 1 << 20
    return [torch.randint(0, 256, (n // 2,), dtype=torch.uint8), torch.rand(n // 64) + 0.1]


def get_init_inputs():
    return [64]
