import torch
import torch.nn as nn

GROUP_SIZE = 64
IN_FEATURES = 1024
OUT_FEATURES = 512
BATCH = 64


class W4Linear(nn.Module):
    """Two unsigned 4-bit values per byte; scale and zero per group of inputs."""

    def __init__(self, in_features, out_features, group_size):
        super().__init__()
        assert in_features % group_size == 0
        groups = in_features // group_size
        self.group_size = group_size
        self.register_buffer("qweight", torch.randint(0, 256, (out_features, in_features // 2), dtype=torch.uint8))
        self.register_buffer("scales", torch.rand(out_features, groups) * 0.01 + 0.001)
        self.register_buffer("zeros", torch.randint(6, 10, (out_features, groups), dtype=torch.int32))

    def unpack(self):
        low = self.qweight & 0x0F
        high = self.qweight >> 4
        return torch.stack((low, high), dim=-1).flatten(-2)

    def dequantize(self):
        w = self.unpack().view(self.scales.shape[0], -1, self.group_size).to(torch.int32)
        w = (w - self.zeros[..., None]).to(self.scales.dtype) * self.scales[..., None]
        return w.flatten(1)

    def forward(self, x):
        return x @ self.dequantize().t()


class Model(nn.Module):
    def __init__(self, i, o, g):
        super().__init__()
        self.proj = W4Linear(i, o, g)

    def forward(self, x):
        return self.proj(x)


def get_inputs():
    return [torch.randn(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, GROUP_SIZE]
