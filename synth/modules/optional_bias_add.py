from typing import Optional

import torch
from torch import Tensor


class Model(torch.nn.Module):
    """Bias and activation in one go; the bias may be missing."""

    bias: Optional[Tensor]

    def __init__(self, features: int, use_bias: bool = True) -> None:
        super().__init__()
        if use_bias:
            self.bias = torch.nn.Parameter(torch.empty(features))
            torch.nn.init.uniform_(self.bias, -0.5, 0.5)
        else:
            self.register_parameter("bias", None)

    def forward(self, input: Tensor) -> Tensor:
        output = input
        if self.bias is not None:
            output = output + self.bias
        return torch.nn.functional.relu6(output)


FEATURES = 1440


def get_inputs():
    return [torch.randn(3, 210, FEATURES) * 3]


def get_init_inputs():
    return [FEATURES, True]
