import torch
import torch.nn as nn


class Model(nn.Module):
    """Diagonal whitening of feature maps by stored statistics, with a learned re-colouring."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.register_buffer("mean", torch.randn(num_features) * 0.1)
        self.register_buffer("var", torch.rand(num_features) + 0.5)
        self.colour = nn.Parameter(torch.ones(num_features))
        self.shift = nn.Parameter(torch.zeros(num_features))
        self.eps = eps

    @property
    def inv_std(self):
        return (self.var + self.eps).rsqrt()

    def forward(self, x):
        scale = self.colour * self.inv_std
        offset = self.shift - self.mean * scale
        y = torch.addcmul(offset[None, :, None], x, scale[None, :, None])
        return torch.where(y > 0, y, 0.01 * y)


def get_inputs():
    return [torch.randn(11, 130, 1000)]


def get_init_inputs():
    return [130]
