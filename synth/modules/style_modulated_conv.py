import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # Convolution whose input channels are scaled by a style; demodulated; noise and bias are added
    def __init__(self, in_ch, out_ch, style_dim, k=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_ch, in_ch, k, k))
        self.affine = nn.Linear(style_dim, in_ch)
        nn.init.ones_(self.affine.bias)
        self.bias = nn.Parameter(torch.zeros(out_ch))
        self.noise_strength = nn.Parameter(torch.tensor(0.1))
        self.gain = (in_ch * k * k) ** -0.5

    def forward(self, x, style, noise):
        s = self.affine(style)  # B, Cin
        w = self.weight * self.gain
        demod = (w.pow(2).sum((2, 3)) @ s.pow(2).t() + 1e-8).rsqrt().t()  # B, Cout
        y = F.conv2d(x * s[:, :, None, None], w, padding=w.shape[-1] // 2)
        y = y * demod[:, :, None, None] + self.noise_strength * noise
        return F.leaky_relu(y + self.bias.view(1, -1, 1, 1), 0.2) * 2 ** 0.5


def get_inputs():
    return [torch.randn(5, 48, 44, 44), torch.randn(5, 160), torch.randn(5, 1, 44, 44)]


def get_init_inputs():
    return [48, 60, 160]
