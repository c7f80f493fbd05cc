import torch
import torch.nn as nn


class Model(nn.Module):
    """ConvGRU as in recurrent optical-flow networks."""

    def __init__(self, hidden_dim=64, input_dim=96):
        super().__init__()
        self.convz = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)
        self.convr = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)
        self.convq = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)

    def forward(self, h, x):
        hx = torch.cat([h, x], dim=1)
        z = torch.sigmoid(self.convz(hx))
        r = torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * h, x], dim=1)))
        h = (1 - z) * h + z * q
        return h


def get_inputs():
    return [torch.randn(2, 64, 40, 40), torch.randn(2, 96, 40, 40)]


def get_init_inputs():
    return [64, 96]
