import torch
from torch import nn, Tensor


class Model(nn.Module):
    def __init__(self, lr: float, lr_decay: float, eps: float) -> None:
        super().__init__()
        self.lr: float = lr
        self.lr_decay: float = lr_decay
        self.eps: float = eps

    def forward(self, param: Tensor, grad: Tensor, state_sum: Tensor, step: int) -> tuple[Tensor, Tensor]:
        clr: float = self.lr / (1 + (step - 1) * self.lr_decay)
        new_sum: Tensor = torch.addcmul(state_sum, grad, grad)
        std: Tensor = new_sum.sqrt().add(self.eps)
        return torch.addcdiv(param, grad, std, value=-clr), new_sum


def get_inputs():
    return [torch.randn(2000, 500), torch.randn(2000, 500), torch.rand(2000, 500), 20]


def get_init_inputs():
    return [0.01, 1e-3, 1e-10]
