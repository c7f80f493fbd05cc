import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, n, dt=0.1):
        super().__init__()
        self.W_ee = nn.Parameter(torch.rand(n, n) / n * 12)
        self.W_ei = nn.Parameter(torch.rand(n, n) / n * 4)
        self.W_ie = nn.Parameter(torch.rand(n, n) / n * 13)
        self.dt = dt

    @staticmethod
    def gain(x, a, th):
        return 1 / (1 + torch.exp(-a * (x - th)))

    def forward(self, e, i, stim):
        drive_e = e @ self.W_ee - i @ self.W_ei + stim
        drive_i = e @ self.W_ie
        e_new = e + self.dt * (-e + (1 - e) * self.gain(drive_e, 1.3, 4.0))
        i_new = i + self.dt * (-i + (1 - i) * self.gain(drive_i, 2.0, 3.7))
        return e_new, i_new

def get_inputs():
    return [torch.rand(400, 256), torch.rand(400, 256), torch.rand(400, 256)]

def get_init_inputs():
    return [256]
