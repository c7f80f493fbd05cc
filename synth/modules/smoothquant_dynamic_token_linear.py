import torch
import torch.nn as nn


class Model(nn.Module):
    """W8A8 simulated: per-token dynamic activation scale, per-channel weight scale."""

    def __init__(self, cin, cout):
        super().__init__()
        w = torch.randn(cout, cin) / cin ** 0.5
        w_scale = w.abs().amax(1, keepdim=True) / 127
        self.register_buffer("w_int", torch.round(w / w_scale))
        self.register_buffer("w_scale", w_scale.squeeze(1))
        self.register_buffer("smooth", torch.rand(cin) + 0.5)
        self.bias = nn.Parameter(torch.zeros(cout))

    def forward(self, x):
        x = x / self.smooth
        s = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-5).div(127.0)
        xq = torch.clamp(torch.round(x / s), -128, 127)
        acc = torch.nn.functional.linear(xq, self.w_int)
        return acc * s * self.w_scale + self.bias


def get_inputs():
    return [torch.randn(4, 192, 512)]


def get_init_inputs():
    return [512, 640]
