import torch
from torch import nn, Tensor
from typing import Tuple


class Model(nn.Module):
    # Centred RMSprop; returns the parameter and both running averages
    def __init__(self, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8) -> None:
        super(Model, self).__init__()
        self.lr = lr
        self.alpha = alpha
        self.eps = eps

    def forward(self, w: Tensor, grad: Tensor, sq: Tensor, avg: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        sq = self.alpha * sq + (1.0 - self.alpha) * grad.square()
        avg = self.alpha * avg + (1.0 - self.alpha) * grad
        denom = torch.sqrt(torch.clamp(sq - avg * avg, min=0.0)) + self.eps
        return torch.addcdiv(w, grad, denom, value=-self.lr), sq, avg


D0, D1 = 1100, 640


def get_inputs():
    w = torch.randn(D0, D1)
    grad = torch.randn(D0, D1)
    sq = torch.rand(D0, D1) + 0.5
    avg = torch.randn(D0, D1) * 0.05
    return [w, grad, sq, avg]


def get_init_inputs():
    return [0.003, 0.95]
