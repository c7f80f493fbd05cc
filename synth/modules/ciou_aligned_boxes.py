import math
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, eps=1e-7):
        super().__init__()
        self.eps = eps

    def forward(self, box1, box2):
        b1_x1, b1_y1, b1_x2, b1_y2 = box1.chunk(4, -1)
        b2_x1, b2_y1, b2_x2, b2_y2 = box2.chunk(4, -1)
        w1, h1 = b1_x2 - b1_x1, b1_y2 - b1_y1 + self.eps
        w2, h2 = b2_x2 - b2_x1, b2_y2 - b2_y1 + self.eps
        inter = (b1_x2.minimum(b2_x2) - b1_x1.maximum(b2_x1)).clamp(0) * (b1_y2.minimum(b2_y2) - b1_y1.maximum(b2_y1)).clamp(0)
        iou = inter / (w1 * h1 + w2 * h2 - inter + self.eps)
        # enclosing box diagonal and centre distance
        cw = b1_x2.maximum(b2_x2) - b1_x1.minimum(b2_x1)
        ch = b1_y2.maximum(b2_y2) - b1_y1.minimum(b2_y1)
        c2 = cw.pow(2) + ch.pow(2) + self.eps
        rho2 = ((b2_x1 + b2_x2 - b1_x1 - b1_x2).pow(2) + (b2_y1 + b2_y2 - b1_y1 - b1_y2).pow(2)) / 4
        v = (4 / math.pi ** 2) * ((w2 / h2).atan() - (w1 / h1).atan()).pow(2)
        alpha = v / (v - iou + (1 + self.eps))
        return iou - (rho2 / c2 + v * alpha)


def get_inputs():
    xy1, xy2 = torch.rand(50000, 2) * 100, torch.rand(50000, 2) * 100
    return [torch.cat([xy1, xy1 + torch.rand(50000, 2) * 50 + 1], 1), torch.cat([xy2, xy2 + torch.rand(50000, 2) * 50 + 1], 1)]


def get_init_inputs():
    return []
