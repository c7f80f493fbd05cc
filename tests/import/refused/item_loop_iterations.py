import torch
from torch import nn

SIZE = 48

class Model(nn.Module):
    # power iteration until the residual is small: the number of steps comes from .item()
    def __init__(self, tol=1e-3, max_iter=50):
        super().__init__()
        self.tol, self.max_iter = tol, max_iter

    def forward(self, a):
        a = a @ a.T
        v = torch.ones(a.shape[0]) / a.shape[0] ** 0.5
        n = 0
        while True:
            w = a @ v
            w = w / w.norm()
            err = (w - v).abs().max().item()
            v = w
            n += 1
            if err < self.tol or n >= self.max_iter:
                break
        return v @ a @ v, v

def get_inputs():
    return [torch.randn(SIZE, SIZE)]
def get_init_inputs():
    return []
