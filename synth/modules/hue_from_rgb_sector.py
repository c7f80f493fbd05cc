import math
import torch
import torch.nn as nn

class Model(nn.Module):
    '''hue angle by atan2, chroma and luma of each pixel (channels last)'''
    def __init__(self):
        super().__init__()
        self.s3 = math.sqrt(3.0) / 2.0
    def forward(self, x):
        R, G, B = x[..., 0], x[..., 1], x[..., 2]
        alpha = R - 0.5 * (G + B)
        beta = self.s3 * (G - B)
        hue = torch.atan2(beta, alpha) / (2 * math.pi)
        hue = hue - torch.floor(hue)
        chroma = torch.sqrt(alpha * alpha + beta * beta + 1e-10)
        luma = 0.299 * R + 0.587 * G + 0.114 * B
        return torch.stack([hue, chroma, luma], -1)

def get_inputs():
    return [torch.rand(6, 300, 400, 3)]

def get_init_inputs():
    return []
