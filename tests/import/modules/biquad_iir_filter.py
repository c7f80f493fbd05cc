import torch
import torch.nn as nn
import math

BATCH, TIME = 16, 48
SR, FC, Q = 8000.0, 1200.0, 0.707

# Direct form II transposed, low-pass from the audio EQ cookbook.
def lowpass_coefficients(sr, fc, q):
    w0 = 2 * math.pi * fc / sr
    alpha = math.sin(w0) / 2 / q
    b0 = (1 - math.cos(w0)) / 2
    b1 = 1 - math.cos(w0)
    b2 = b0
    a0 = 1 + alpha
    a1 = -2 * math.cos(w0)
    a2 = 1 - alpha
    return [c / a0 for c in (b0, b1, b2, a1, a2)]

class Model(nn.Module):
    def __init__(self, sr, fc, q):
        super().__init__()
        self.coef = lowpass_coefficients(sr, fc, q)
    def forward(self, x):
        b0, b1, b2, a1, a2 = self.coef
        z1 = torch.zeros_like(x[:, 0])
        z2 = torch.zeros_like(x[:, 0])
        y = torch.empty_like(x)
        for n in range(x.shape[1]):
            xn = x[:, n]
            yn = b0 * xn + z1
            z1 = b1 * xn - a1 * yn + z2
            z2 = b2 * xn - a2 * yn
            y[:, n] = yn
        return y

def get_inputs():
    return [torch.randn(BATCH, TIME)]
def get_init_inputs():
    return [SR, FC, Q]
