import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        m = x.amax(dim=1, keepdim=True)
        return m.squeeze(1) + (x - m).exp().sum(dim=1).log()

def get_inputs():
    return [torch.randn(600, 1900)]

def get_init_inputs():
    return []