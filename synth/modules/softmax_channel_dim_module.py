import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim: int):
        super(Model, self).__init__()
        self.sm = nn.Softmax(dim=dim)

    def forward(self, logits):
        return self.sm(logits)

def get_inputs():
    return [torch.randn(6, 21, 120, 160)]

def get_init_inputs():
    return [1]
