import math
import torch


class Model(torch.nn.Module):
    """
    A single Adam update, written out. The moments are copied first and updated in place after.

    Args:
        lr: learning rate
        betas: decay of the two moments
        eps: added to the denominator
    """

    def __init__(self, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__()
        self.lr = lr
        self.beta1, self.beta2 = betas
        self.eps = eps

    def forward(self, param, grad, exp_avg, exp_avg_sq, step: int):
        m = exp_avg.clone().mul_(self.beta1).add_(grad, alpha=1 - self.beta1)
        v = exp_avg_sq.clone().mul_(self.beta2).addcmul_(grad, grad, value=1 - self.beta2)
        bias1 = 1 - self.beta1 ** step
        bias2 = 1 - self.beta2 ** step
        denom = (v.sqrt() / math.sqrt(bias2)).add_(self.eps)
        return param - (self.lr / bias1) * m / denom, m, v


rows, cols = 730, 910


def get_inputs():
    shape = (rows, cols)
    return [torch.randn(shape), torch.randn(shape) * 0.1, torch.randn(shape) * 0.01, torch.rand(shape) * 0.01, 7]


def get_init_inputs():
    return [3e-4, (0.9, 0.98), 1e-8]
