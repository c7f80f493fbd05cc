import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim: int):
        super(Model, self).__init__()
        self.dim = dim

    def forward(self, distances: torch.Tensor) -> torch.Tensor:
        """Index of the nearest candidate along ``self.dim``."""
        nearest = distances.min(dim=self.dim)
        return nearest.indices

def get_init_inputs():
    return [1]

def get_inputs():
    return [torch.rand(18, 250, 240)]
