import torch
import torch.nn as nn


class Model(nn.Module):
    """YOLOv5-style head for one level: 1x1 convolution, sigmoid, boxes decoded on the grid."""

    def __init__(self, nc, anchors, ch, stride):
        super().__init__()
        self.no = nc + 5
        self.na = len(anchors)
        self.stride = stride
        self.m = nn.Conv2d(ch, self.no * self.na, 1)
        self.register_buffer("anchor_grid", torch.tensor(anchors).view(1, -1, 1, 1, 2))

    def forward(self, x):
        x = self.m(x)
        bs, _, ny, nx = x.shape
        x = x.view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        yv, xv = torch.meshgrid(torch.arange(ny, device=x.device), torch.arange(nx, device=x.device), indexing="ij")
        grid = torch.stack((xv, yv), 2).float() - 0.5
        xy, wh, conf = x.sigmoid().split((2, 2, self.no - 4), 4)
        xy = (xy * 2 + grid) * self.stride
        wh = (wh * 2) ** 2 * self.anchor_grid
        return torch.cat((xy, wh, conf), 4).view(bs, -1, self.no)


def get_inputs():
    return [torch.randn(4, 64, 40, 40)]


def get_init_inputs():
    return [15, [[10.0, 13.0], [16.0, 30.0], [33.0, 23.0]], 64, 8]
