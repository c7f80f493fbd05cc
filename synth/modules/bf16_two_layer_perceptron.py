import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Two linear layers in bfloat16; the logits are given back in fp32."""

    def __init__(self, d, h, o):
        super().__init__()
        self.up = nn.Linear(d, h, dtype=torch.bfloat16)
        self.down = nn.Linear(h, o, dtype=torch.bfloat16)

    def forward(self, x):
        y = F.silu(self.up(x))
        return self.down(y).float()


def get_inputs():
    return [torch.randn(512, 384).to(torch.bfloat16)]


def get_init_inputs():
    return [384, 1024, 100]
