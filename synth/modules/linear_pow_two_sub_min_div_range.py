import torch
import torch.nn as nn


class Model(nn.Module):
    """Square of a linear map scaled to zero-one in each column (over the batch), then a power."""

    def __init__(self, inputs, outputs, gamma):
        super().__init__()
        self.fc = nn.Linear(inputs, outputs)
        self.gamma = gamma

    def forward(self, x):
        y = self.fc(x) ** 2
        lo = torch.amin(y, dim=0, keepdim=True)
        hi = torch.amax(y, dim=0, keepdim=True)
        y = (y - lo) / (hi - lo + 1e-6)
        return y ** self.gamma


def get_inputs():
    return [torch.randn(512, 128)]


def get_init_inputs():
    return [128, 520, 0.6]
