import torch
import torch.nn as nn


class Model(nn.Module):
    """One-tap MMSE equaliser with interpolated pilots; complex arithmetic in pairs; hard QPSK bits."""

    def __init__(self, noise_var):
        super().__init__()
        self.noise_var = noise_var

    def forward(self, y_re, y_im, h_re, h_im):
        # h is known on every second carrier: fill by repeating
        h_re = h_re.repeat_interleave(2, dim=-1)
        h_im = h_im.repeat_interleave(2, dim=-1)
        gain = h_re * h_re + h_im * h_im + self.noise_var
        x_re = (y_re * h_re + y_im * h_im) / gain
        x_im = (y_im * h_re - y_re * h_im) / gain
        bits = torch.stack([x_re < 0, x_im < 0], dim=-1)
        return x_re, x_im, bits


def get_inputs():
    return [torch.randn(100, 14, 600), torch.randn(100, 14, 600), torch.randn(100, 14, 300), torch.randn(100, 14, 300)]


def get_init_inputs():
    return [0.05]
