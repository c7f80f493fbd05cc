import torch


class Model(torch.nn.Module):
    def __init__(self, momentum: float, weight_decay: float, nesterov: bool):
        super().__init__()
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov

    def forward(self, param, grad, buf, lr: float):
        grad = grad + self.weight_decay * param
        buf = self.momentum * buf + grad
        step = grad + self.momentum * buf if self.nesterov else buf
        return param - lr * step, buf


def get_inputs(): return [torch.randn(800, 750), torch.randn(800, 750), torch.randn(800, 750), 0.01]


def get_init_inputs(): return [0.9, 1e-4, True]
