import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, rho=0.95, eps=1e-6, lr=1.0):
        super().__init__()
        self.rho = rho
        self.eps = eps
        self.lr = lr

    def forward(self, w, g, sq, acc):
        sq = self.rho * sq + (1 - self.rho) * g * g
        rms_g = (sq + self.eps).sqrt()
        rms_dx = (acc + self.eps).sqrt()
        dx = rms_dx / rms_g * g
        acc = self.rho * acc + (1 - self.rho) * dx * dx
        w = w - self.lr * dx
        return w, sq, acc


def get_inputs():
    return [torch.randn(512, 1024), torch.randn(512, 1024), torch.rand(512, 1024), torch.rand(512, 1024) * 1e-3]


def get_init_inputs():
    return [0.9]
