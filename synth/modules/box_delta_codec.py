import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Applies regression deltas to anchors and clips the boxes to the image."""

    def __init__(self, weights, image_size, max_ratio=16 / 1000):
        super().__init__()
        self.wx, self.wy, self.ww, self.wh = weights
        self.image_h, self.image_w = image_size
        self.limit = abs(math.log(max_ratio))

    def forward(self, deltas, anchors):
        widths = anchors[:, 2] - anchors[:, 0]
        heights = anchors[:, 3] - anchors[:, 1]
        cx = anchors[:, 0] + 0.5 * widths
        cy = anchors[:, 1] + 0.5 * heights

        dx, dy, dw, dh = deltas.unbind(dim=1)
        dw = torch.clamp(dw / self.ww, max=self.limit)
        dh = torch.clamp(dh / self.wh, max=self.limit)

        px = dx / self.wx * widths + cx
        py = dy / self.wy * heights + cy
        pw = torch.exp(dw) * widths
        ph = torch.exp(dh) * heights

        x1 = (px - 0.5 * pw).clamp(0, self.image_w)
        y1 = (py - 0.5 * ph).clamp(0, self.image_h)
        x2 = (px + 0.5 * pw).clamp(0, self.image_w)
        y2 = (py + 0.5 * ph).clamp(0, self.image_h)
        return torch.stack((x1, y1, x2, y2), dim=1)


def get_inputs():
    n = 90_000
    xy = torch.rand(n, 2) * 500
    anchors = torch.cat((xy, xy + 5 + torch.rand(n, 2) * 100), 1)
    return [torch.randn(n, 4), anchors]


def get_init_inputs():
    return [(10.0, 10.0, 5.0, 5.0), (600, 640)]
