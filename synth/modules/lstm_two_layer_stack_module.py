import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, d, h, layers, out):
        super().__init__()
        self.h, self.layers = h, layers
        self.lstm = nn.LSTM(d, h, layers, batch_first=True, dropout=0.0)
        self.fc = nn.Linear(h, out)

    def forward(self, x):
        # initial hidden and cell states
        h0 = torch.zeros(self.layers, x.size(0), self.h).to(x.device)
        c0 = torch.zeros(self.layers, x.size(0), self.h).to(x.device)
        out, _ = self.lstm(x, (h0, c0))
        out = self.fc(out[:, -1, :])
        return out


def get_inputs():
    return [torch.randn(40, 10, 64)]


def get_init_inputs():
    return [64, 96, 2, 10]
