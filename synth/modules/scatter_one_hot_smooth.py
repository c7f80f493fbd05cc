import torch
import torch.nn as nn


class Model(nn.Module):
    """Smoothed one-hot labels by scatter."""

    def __init__(self, classes, smoothing):
        super().__init__()
        self.classes = classes
        self.on = 1.0 - smoothing
        self.off = smoothing / (classes - 1)

    def forward(self, labels):
        full = torch.full((labels.shape[0], self.classes), self.off, device=labels.device)
        return full.scatter(1, labels.unsqueeze(1), self.on)


def get_inputs():
    return [torch.randint(0, 500, (4000,))]


def get_init_inputs():
    return [500, 0.1]
