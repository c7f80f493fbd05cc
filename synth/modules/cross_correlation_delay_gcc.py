import torch
import torch.nn as nn


class Model(nn.Module):
    """Normalised correlation of two microphones for small integer delays; soft estimate of the delay."""

    def __init__(self, max_delay, sharpness):
        super().__init__()
        self.max_delay = max_delay
        self.sharpness = sharpness
        self.register_buffer("delays", torch.arange(-max_delay, max_delay + 1).float())

    def forward(self, left, right):
        left = left - left.mean(1, keepdim=True)
        right = right - right.mean(1, keepdim=True)
        d = self.max_delay
        core = left[:, d : left.shape[1] - d]
        n = core.shape[1]
        scores = torch.stack([(core * right[:, i : i + n]).sum(1) for i in range(2 * d + 1)], dim=1)
        scores = scores / (left.norm(dim=1) * right.norm(dim=1) + 1e-8).unsqueeze(1)
        return (torch.softmax(scores * self.sharpness, dim=1) * self.delays).sum(1)


def get_inputs():
    return [torch.randn(128, 8000), torch.randn(128, 8000)]


def get_init_inputs():
    return [4, 20.0]
