import torch
import torch.nn as nn


class Model(nn.Module):
    """Unpacks two 4-bit weights a byte, scales them by groups along the input, and multiplies (fp16)."""

    def __init__(self, k: int, n: int, group: int):
        super().__init__()
        self.group = group
        self.register_buffer("packed", torch.randint(0, 256, (n, k // 2), dtype=torch.uint8))
        self.register_buffer("scales", (torch.rand(n, k // group) * 0.01 + 0.005).half())

    def weight(self):
        low = self.packed & 15
        high = self.packed >> 4
        q = torch.stack([low, high], dim=-1).flatten(1)
        q = q.to(torch.float16) - 8
        n, k = q.shape
        return (q.view(n, k // self.group, self.group) * self.scales.unsqueeze(-1)).view(n, k)

    def forward(self, x):
        return x @ self.weight().t()


def get_inputs():
    return [torch.randn(360, 768).half()]


def get_init_inputs():
    return [768, 512, 64]
