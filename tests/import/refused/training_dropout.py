import torch.nn as nn, torch
P = 0.3
class Model(nn.Module):
    # random in training mode, which is the mode after construction
    def __init__(self, p):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Dropout(p), nn.Linear(256, 64), nn.Dropout(p))
    def forward(self, x):
        return x + self.net(x)
def get_inputs():
    return [torch.randn(100, 64)]
def get_init_inputs():
    return [P]
