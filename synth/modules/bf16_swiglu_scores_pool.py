import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Sequence scorer in bf16: gated features, one score per token, softmax pooling in fp32."""

    def __init__(self, d, h):
        super().__init__()
        kw = dict(bias=False, dtype=torch.bfloat16)
        self.g, self.u, self.s = nn.Linear(d, h, **kw), nn.Linear(d, h, **kw), nn.Linear(h, 1, **kw)

    def forward(self, x):
        z = F.silu(self.g(x)) * self.u(x)
        a = self.s(z).float().softmax(dim=1)
        return (a * z.float()).sum(1).bfloat16()


def get_inputs():
    return [torch.randn(12, 130, 160).bfloat16()]


def get_init_inputs():
    return [160, 208]
