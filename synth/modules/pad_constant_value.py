import torch
import torch.nn.functional as F

class Model(torch.nn.Module):
    def __init__(self, pad, mode, value):
        super().__init__()
        self.pad = pad
        self.mode = mode
        self.value = value

    def forward(self, x):
        return F.pad(x, pad=self.pad, mode=self.mode, value=self.value)

def get_inputs(): return [torch.randn(9, 12, 70, 74)]

def get_init_inputs(): return [(1, 2, 3, 0), 'constant', 0.5]
