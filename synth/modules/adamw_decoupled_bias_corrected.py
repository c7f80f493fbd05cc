import torch
import torch.nn as nn


class Model(nn.Module):
    """AdamW: decoupled decay and bias correction at step t."""

    def __init__(self, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__()
        self.lr = lr
        self.beta1, self.beta2 = betas
        self.eps = eps
        self.weight_decay = weight_decay

    def forward(self, param, grad, exp_avg, exp_avg_sq, step):
        param = param * (1 - self.lr * self.weight_decay)
        exp_avg = torch.lerp(exp_avg, grad, 1 - self.beta1)
        exp_avg_sq = self.beta2 * exp_avg_sq + (1 - self.beta2) * grad.square()
        c1 = 1 - self.beta1 ** step
        c2 = 1 - self.beta2 ** step
        denom = exp_avg_sq.sqrt() / (c2 ** 0.5) + self.eps
        param = param - (self.lr / c1) * exp_avg / denom
        return param, exp_avg, exp_avg_sq


def get_inputs():
    n = (1024, 640)
    return [torch.randn(n), torch.randn(n) * 0.1, torch.randn(n) * 0.01, torch.rand(n) * 0.01, 7]


def get_init_inputs():
    return []
