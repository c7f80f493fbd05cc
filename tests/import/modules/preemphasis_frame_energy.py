import torch
import torch.nn as nn

FRAME_LEN = 256
FRAME_STEP = 128
SAMPLES = 32768


class Model(nn.Module):
    def __init__(self, frame_len, frame_step, coeff=0.97, eps=1e-8):
        super().__init__()
        self.frame_len = frame_len; self.frame_step = frame_step
        self.coeff = coeff
        self.eps = eps
        self.register_buffer('win', torch.hamming_window(frame_len, periodic=False))

    def preemphasis(self, x):
        return torch.cat((x[..., :1], x[..., 1:] - self.coeff * x[..., :-1]), dim=-1)

    def frame(self, x):
        num = 1 + (x.shape[-1] - self.frame_len) // self.frame_step
        idx = torch.arange(self.frame_len, device=x.device)[None, :] + self.frame_step * torch.arange(num, device=x.device)[:, None]
        return x[..., idx]

    def forward(self, x):
        y = self.preemphasis(x)
        f = self.frame(y) * self.win
        energy = 10 * torch.log10((f ** 2).mean(-1) + self.eps)
        sign = torch.sign(f)
        zcr = (sign[..., 1:] - sign[..., :-1]).abs().mean(-1) / 2
        return energy, zcr


def get_inputs():
    return [torch.randn(4, SAMPLES)]


def get_init_inputs():
    return [FRAME_LEN, FRAME_STEP]
