import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(Model, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)

    def forward(self, x, h):
        # x: (seq, batch, feature)
        outputs = []
        for t in range(x.size(0)):
            h = torch.tanh(self.i2h(x[t]) + self.h2h(h))
            outputs.append(self.h2o(h))
        return torch.stack(outputs), h


seq_len, bs = 6, 250


def get_inputs():
    return [torch.randn(seq_len, bs, 96), torch.zeros(bs, 112)]


def get_init_inputs():
    return [96, 112, 30]
