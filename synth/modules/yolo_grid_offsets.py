import torch
import torch.nn as nn

NUM_CLASSES = 13
ANCHORS = [[10.0, 13.0], [16.0, 30.0], [33.0, 23.0]]
GRID = 38


class Model(nn.Module):
    """Turns the raw output of a one-stage detector into centre/size boxes and class scores."""

    def __init__(self, anchors, grid, stride):
        super().__init__()
        a = torch.tensor(anchors)
        self.register_buffer("anchor_wh", a.view(1, -1, 1, 1, 2))
        gy, gx = torch.meshgrid(torch.arange(grid), torch.arange(grid), indexing="ij")
        self.register_buffer("offset", torch.stack((gx, gy), -1).float()[None, None])
        self.stride = stride

    def forward(self, raw):
        # raw: batch, anchors, grid, grid, 5 + classes
        p = torch.sigmoid(raw)
        xy = (2.0 * p[..., 0:2] - 0.5 + self.offset) * self.stride
        wh = (2.0 * p[..., 2:4]) ** 2 * self.anchor_wh
        score = p[..., 4:5] * p[..., 5:]
        return torch.cat([xy, wh, score], dim=-1)


def get_inputs():
    return [torch.randn(5, len(ANCHORS), GRID, GRID, 5 + NUM_CLASSES)]


def get_init_inputs():
    return [ANCHORS, GRID, 16]
