import torch
import torch.nn as nn


class Model(nn.Module):
    """Multiplies a tensor by the softplus of itself."""

    def __init__(self, beta: float):
        super(Model, self).__init__()
        self.beta = beta

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * nn.functional.softplus(x, beta=self.beta)


batch_size = 64
dim = 4096


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return [1.5]
