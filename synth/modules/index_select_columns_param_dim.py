import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim: int):
        super(Model, self).__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        """Selects entries along a dimension, repeats allowed."""
        return torch.index_select(x, self.dim, indices)

def get_inputs():
    return [torch.randn(300, 2000), torch.randint(0, 2000, (1500,))]

def get_init_inputs():
    return [1]
