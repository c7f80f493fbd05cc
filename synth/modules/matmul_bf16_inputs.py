import torch
import torch.nn as nn

class Model(nn.Module):
    """bfloat16 matrix product, the result is returned in float32."""
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B):
        return torch.matmul(A, B).float()

def get_inputs():
    return [
        torch.randn(512, 768).to(torch.bfloat16),
        torch.randn(768, 640).to(torch.bfloat16),
    ]

def get_init_inputs():
    return []
