import torch
import torch.nn as nn

class Model(nn.Module):
    """Multiplies by exp of a learned scalar."""
    def __init__(self, init_log_scale: float):
        super(Model, self).__init__()
        self.log_scale = nn.Parameter(torch.tensor(init_log_scale))

    def forward(self, similarity):
        return self.log_scale.exp() * similarity

def get_inputs():
    return [torch.randn(1600, 1600)]

def get_init_inputs():
    return [2.6593]
