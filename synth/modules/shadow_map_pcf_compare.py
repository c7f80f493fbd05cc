import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Percentage-closer filtering: fraction of a 3x3 neighbourhood of the shadow map that lies nearer."""

    def __init__(self, bias):
        super().__init__()
        self.bias = bias

    def forward(self, shadow_map, receiver):
        h, w = receiver.shape[-2:]
        padded = F.pad(shadow_map[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
        lit = torch.zeros_like(receiver)
        for dy in range(3):
            for dx in range(3):
                lit = lit + (padded[:, dy : dy + h, dx : dx + w] + self.bias >= receiver).float()
        return lit / 9.0


def get_inputs():
    return [torch.rand(8, 256, 256), torch.rand(8, 256, 256)]


def get_init_inputs():
    return [0.01]
