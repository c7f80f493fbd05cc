import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Multiplies two stacks of matrices pair by pair.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, stack_a: torch.Tensor, stack_b: torch.Tensor) -> torch.Tensor:
        return torch.bmm(stack_a, stack_b)

n_pairs = 48
rows, inner, cols = 160, 320, 96

def get_inputs():
    stack_a = torch.randn(n_pairs, rows, inner)
    stack_b = torch.randn(n_pairs, inner, cols)
    return [stack_a, stack_b]

def get_init_inputs():
    return []
