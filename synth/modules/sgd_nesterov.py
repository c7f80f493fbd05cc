import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr, momentum, weight_decay, nesterov):
        super().__init__()
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov

    def forward(self, params, grads, bufs):
        new_params, new_bufs = [], []
        for p, g, b in zip(params, grads, bufs):
            if self.weight_decay != 0:
                g = g.add(p, alpha=self.weight_decay)
            b = self.momentum * b + g
            g = g.add(b, alpha=self.momentum) if self.nesterov else b
            new_params.append(p - self.lr * g)
            new_bufs.append(b)
        return new_params, new_bufs


SHAPES = [(420, 300), (300,), (300, 512)]


def get_inputs():
    return [[torch.randn(s) for s in SHAPES] for _ in range(3)]


def get_init_inputs():
    return [0.05, 0.9, 1e-4, True]
