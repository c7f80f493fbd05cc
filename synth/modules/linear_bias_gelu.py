import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """First half of a transformer MLP."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.fc = nn.Linear(d_model, d_ff)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.fc(x), approximate='tanh')

def get_inputs():
    return [torch.randn(5, 144, 480)]

def get_init_inputs():
    return [480, 1200]
