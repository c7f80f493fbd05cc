import torch
from torch import nn

SHAPES = [(256, 256), (1024,), (64, 8, 3, 3)]

class Model(nn.Module):
    """foreach style: lists of parameters and gradients in, dict of lists out"""
    def __init__(self, lr=3e-4):
        super().__init__()
        self.lr = lr

    def lion(self, p, g, m, b1=0.9, b2=0.99, wd=0.1):
        u = (b1 * m + (1 - b1) * g).sign()
        return p * (1 - self.lr * wd) - self.lr * u, b2 * m + (1 - b2) * g

    def lamb(self, p, g, m, wd=0.01):
        u = g / (g.abs() + 1e-6).sqrt() + wd * p
        w_norm, u_norm = p.pow(2).sum().sqrt().clamp(0, 10), u.pow(2).sum().sqrt()
        trust = torch.where(w_norm > 0, torch.where(u_norm > 0, w_norm / u_norm, 1.0), 1.0)
        return p - self.lr * trust * u, m

    def forward(self, params, grads, moms):
        res = {'lion': [], 'lamb': []}
        for p, g, m in zip(params, grads, moms):
            for k in res:
                res[k].append(getattr(self, k)(p, g, m)[0])
        return res

def get_inputs():
    mk = lambda s: [torch.randn(x) for x in SHAPES]
    return [mk(1), mk(.1), mk(.1)]
def get_init_inputs():
    return []
