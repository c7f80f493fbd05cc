"""addmm folds the biases in; the activation overwrites the kernel's own intermediate."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        hidden = torch.addmm(self.up.bias, x, self.up.weight.t())
        hidden.relu_()
        return torch.addmm(self.down.bias, hidden, self.down.weight.t())
