import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    HardTanh between two limits given at construction.
    """
    def __init__(self, min_val: float, max_val: float):
        super(Model, self).__init__()
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(x, min_val=self.min_val, max_val=self.max_val)

batch_size = 144
dim = 9001

def get_inputs():
    return [torch.randn(batch_size, dim)]

def get_init_inputs():
    return [-0.5, 2.0]
