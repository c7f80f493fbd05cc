import torch
import torch.nn as nn

class Model(nn.Module):
    """First difference with the first column kept."""
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.cat((x[:, :1], x[:, 1:] - x[:, :-1]), dim=1)

def get_inputs():
    return [torch.randn(333, 4001)]

def get_init_inputs():
    return []
