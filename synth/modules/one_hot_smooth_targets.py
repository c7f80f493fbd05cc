import torch
from torch import nn, Tensor


class Model(nn.Module):
    """One-hot by comparison with arange, then smoothed."""

    def __init__(self, n_cls: int, on: float, off: float):
        super(Model, self).__init__()
        self.n_cls = n_cls
        self.on = on
        self.off = off

    def forward(self, y: Tensor) -> Tensor:
        classes = torch.arange(self.n_cls, device=y.device)
        hot = y[:, None] == classes[None, :]
        return hot.float() * (self.on - self.off) + self.off


def get_inputs():
    return [torch.randint(0, 7, (210_000,))]


def get_init_inputs():
    return [7, 0.94, 0.01]
