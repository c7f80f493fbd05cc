import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super(Model, self).__init__()
        self.hidden = nn.Linear(n_in, n_hidden)
        self.readout = nn.Linear(n_hidden, n_out, bias=False)

    def forward(self, x):
        return self.readout(torch.sigmoid(self.hidden(x)))


batch_size = 512

def get_inputs():
    return [torch.randn(batch_size, 300)]

def get_init_inputs():
    return [300, 4096, 20]
