import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Hinge loss for labels of -1 and 1.

    Parameters:
        margin (float): wanted margin.
    """
    def __init__(self, margin):
        super(Model, self).__init__()
        self.margin = margin

    def forward(self, scores, labels):
        return torch.mean(torch.relu(self.margin - scores * labels))

def get_inputs():
    return [torch.randn(20000, 25), torch.randint(0, 2, (20000, 25)).float() * 2 - 1]

def get_init_inputs():
    return [1.5]
