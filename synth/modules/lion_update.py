import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr, beta1=0.9, beta2=0.99, *, wd=0.0):
        super().__init__()
        self.lr, self.b1, self.b2, self.wd = lr, beta1, beta2, wd

    def forward(self, p, g, m):
        # decoupled weight decay, then the sign of the interpolated momentum
        update = torch.lerp(g, m, self.b1).sign()
        p = p * (1.0 - self.lr * self.wd) - self.lr * update
        m = torch.lerp(g, m, self.b2)
        return {'param': p, 'momentum': m}


def get_inputs():
    n = 777_000
    return [torch.randn(n), torch.randn(n), torch.randn(n)]


def get_init_inputs():
    return [1e-4, 0.95, 0.98]
