import torch
import torch.nn as nn

class Model(nn.Module):
    """
    KL(p || q) of matching rows.
    """
    def __init__(self, eps: float = 1e-8):
        super(Model, self).__init__()
        self.eps = eps

    def forward(self, p, q):
        return (p * ((p + self.eps).log() - (q + self.eps).log())).sum(dim=-1)

batch_size = 1500
n = 900

def get_inputs():
    p = torch.rand(batch_size, n).softmax(dim=-1)
    q = torch.rand(batch_size, n).softmax(dim=-1)
    return [p, q]

def get_init_inputs():
    return []
