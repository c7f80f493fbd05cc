import torch
import torch.nn as nn


class Model(nn.Module):
    """FCOS-style decoding: distances (l, t, r, b) of every cell to boxes, with a centre-ness score."""

    def __init__(self, stride, h, w):
        super().__init__()
        self.stride = stride
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        self.register_buffer("cx", (xs.float() + 0.5) * stride)
        self.register_buffer("cy", (ys.float() + 0.5) * stride)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, reg, ctr):
        d = torch.relu(self.scale * reg) * self.stride      # N,4,H,W
        l, t, r, b = d.unbind(dim=1)
        boxes = torch.stack((self.cx - l, self.cy - t, self.cx + r, self.cy + b), dim=-1)
        return boxes.flatten(1, 2), ctr.sigmoid().flatten(1)


def get_inputs():
    return [torch.randn(8, 4, 76, 100), torch.randn(8, 1, 76, 100)]


def get_init_inputs():
    return [8, 76, 100]
