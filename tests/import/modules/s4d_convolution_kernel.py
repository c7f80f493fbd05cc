"""S4D-Lin kernel in real arithmetic, applied as a Toeplitz product."""
import math
import torch
from torch import nn

H, N, L = 24, 16, 96


class S4DKernel(nn.Module):
    def __init__(self, d_model, N=64, dt_min=0.001, dt_max=0.1):
        super().__init__()
        log_dt = torch.rand(d_model) * (math.log(dt_max) - math.log(dt_min)) + math.log(dt_min)
        self.log_dt = nn.Parameter(log_dt)
        self.C_re = nn.Parameter(torch.randn(d_model, N // 2))
        self.C_im = nn.Parameter(torch.randn(d_model, N // 2))
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(d_model, N // 2)))
        self.A_imag = nn.Parameter(math.pi * torch.arange(N // 2).repeat(d_model, 1).float())

    def forward(self, L):
        dt = self.log_dt.exp().unsqueeze(-1)
        a_re, a_im = -self.log_A_real.exp(), self.A_imag
        dtA_re, dtA_im = a_re * dt, a_im * dt
        # (exp(dtA) - 1) / A, complex division spelled out
        e = dtA_re.exp()
        num_re, num_im = e * dtA_im.cos() - 1, e * dtA_im.sin()
        den = a_re ** 2 + a_im ** 2
        b_re = (num_re * a_re + num_im * a_im) / den
        b_im = (num_im * a_re - num_re * a_im) / den
        c_re = self.C_re * b_re - self.C_im * b_im
        c_im = self.C_re * b_im + self.C_im * b_re
        t = torch.arange(L, device=dt.device)
        mag = (dtA_re.unsqueeze(-1) * t).exp()
        ph = dtA_im.unsqueeze(-1) * t
        return 2 * (c_re.unsqueeze(-1) * mag * ph.cos() - c_im.unsqueeze(-1) * mag * ph.sin()).sum(1)


class Model(nn.Module):
    def __init__(self, h, n):
        super().__init__()
        self.kernel = S4DKernel(h, n)
        self.D = nn.Parameter(torch.randn(h))
        self.output_linear = nn.Sequential(nn.Conv1d(h, 2 * h, kernel_size=1), nn.GLU(dim=-2))

    def forward(self, u):
        L = u.size(-1)
        k = self.kernel(L=L)
        lag = torch.arange(L, device=u.device)
        lag = lag[:, None] - lag[None, :]
        toeplitz = torch.where(lag >= 0, k[:, lag.clamp(min=0)], 0.0)
        y = torch.einsum('hij,bhj->bhi', toeplitz, u)
        y = y + u * self.D.unsqueeze(-1)
        return self.output_linear(nn.functional.gelu(y))


def get_inputs():
    return [torch.randn(2, H, L)]


def get_init_inputs():
    return [H, N]
