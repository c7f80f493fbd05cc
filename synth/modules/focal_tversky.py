import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, alpha: float, beta: float, gamma: float, eps: float = 1e-6):
        super(Model, self).__init__()
        self.alpha, self.beta, self.gamma, self.eps = alpha, beta, gamma, eps

    def forward(self, inputs, targets):
        p = inputs.sigmoid().flatten(1)
        t = targets.flatten(1)
        tp = (p * t).sum(1)
        fp = (p * (1 - t)).sum(1)
        fn = ((1 - p) * t).sum(1)
        tversky = (tp + self.eps) / (tp + self.alpha * fp + self.beta * fn + self.eps)
        return torch.pow(1 - tversky, self.gamma).mean()


def get_inputs():
    shape = (20, 1, 210, 210)
    return [torch.randn(shape), torch.randint(0, 2, shape).float()]


def get_init_inputs():
    return [0.3, 0.7, 0.75]
