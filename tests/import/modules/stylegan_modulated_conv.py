import math
import torch
from torch import nn
from torch.nn import functional as F

IN_CHANNEL, OUT_CHANNEL, STYLE_DIM, RES, BATCH = 32, 32, 64, 16, 4


def make_kernel(k):
    k = torch.tensor(k, dtype=torch.float32)
    if k.ndim == 1:
        k = k[None, :] * k[:, None]
    k /= k.sum()
    return k


class NoiseInjection(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((1,), 0.1))

    def forward(self, image, noise=None):
        if noise is None:
            batch, _, height, width = image.shape
            noise = image.new_empty(batch, 1, height, width).normal_()
        return image + self.weight * noise


class ModulatedConv2d(nn.Module):
    def __init__(self, in_channel, out_channel, kernel_size, style_dim, demodulate=True, upsample=False):
        super().__init__()
        self.eps = 1e-8
        self.upsample = upsample
        fan_in = in_channel * kernel_size ** 2
        self.scale = 1 / math.sqrt(fan_in)
        self.padding = kernel_size // 2
        self.weight = nn.Parameter(torch.randn(1, out_channel, in_channel, kernel_size, kernel_size))
        self.modulation = nn.Linear(style_dim, in_channel)
        nn.init.ones_(self.modulation.bias)
        self.demodulate = demodulate
        self.register_buffer("kernel", make_kernel([1, 3, 3, 1]))

    def __repr__(self):
        return f"{self.__class__.__name__}(upsample={self.upsample})"

    def forward(self, input, style):
        batch, in_channel, height, width = input.shape
        out_channel = self.weight.shape[1]
        style = self.modulation(style).view(batch, 1, in_channel, 1, 1)
        weight = self.scale * self.weight * style
        if self.demodulate:
            demod = torch.rsqrt(weight.pow(2).sum([2, 3, 4]) + 1e-8)
            weight = weight * demod.view(batch, out_channel, 1, 1, 1)
        if self.upsample:
            weight = weight.transpose(1, 2).reshape(batch * in_channel, out_channel, *weight.shape[3:])
            out = F.conv_transpose2d(input.view(1, batch * in_channel, height, width), weight, padding=0, stride=2, groups=batch)
            _, _, h, w = out.shape
            out = out.view(batch * out_channel, 1, h, w)
            out = F.conv2d(F.pad(out, (1, 1, 1, 1)), self.kernel[None, None] * 4)
            return out.view(batch, out_channel, out.shape[2], out.shape[3])
        weight = weight.view(batch * out_channel, in_channel, *weight.shape[3:])
        out = F.conv2d(input.view(1, batch * in_channel, height, width), weight, padding=self.padding, groups=batch)
        return out.view(batch, out_channel, out.shape[2], out.shape[3])


class Model(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.conv1, self.conv2 = ModulatedConv2d(i, o, 3, s), ModulatedConv2d(o, o, 3, s, upsample=True)
        self.noise = NoiseInjection()
        self.to_rgb = ModulatedConv2d(o, 3, 1, s, demodulate=False)

    def forward(self, x, styles, noise):
        x = F.leaky_relu(self.noise(self.conv1(x, styles[:, 0]), noise=noise), 0.2) * 2 ** 0.5
        x = F.leaky_relu(self.conv2(x, styles[:, 1]), 0.2) * 2 ** 0.5
        return self.to_rgb(x, styles[:, 2])


def get_inputs():
    return [torch.randn(BATCH, IN_CHANNEL, RES, RES), torch.randn(BATCH, 3, STYLE_DIM), torch.randn(BATCH, 1, RES, RES)]


def get_init_inputs():
    return [IN_CHANNEL, OUT_CHANNEL, STYLE_DIM]
