import torch
from torch import nn

IN, HID, LAYERS = 20, 40, 2

class Encoder(nn.Module):
    def __init__(self, n_in, n_hid, n_layers):
        super().__init__()
        self.rnn = nn.GRU(n_in, n_hid, n_layers, batch_first=False)
        self.mu = nn.Linear(n_hid, 16)
        self.logvar = nn.Linear(n_hid, 16)
    def forward(self, x, h0=None):
        out, hn = self.rnn(x) if h0 is None else self.rnn(x, h0)
        last = hn[-1]
        return self.mu(last), self.logvar(last).clamp(-8, 8)

class Model(nn.Module):
    def __init__(self, *args):
        super().__init__()
        self.encoder = Encoder(*args)
    def forward(self, x, h0):
        mu, logvar = self.encoder(x, h0=h0)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
        return {'mu': mu, 'logvar': logvar, 'kl': kl.mean()}

def get_inputs():
    return [torch.randn(15, 6, IN), torch.zeros(LAYERS, 6, HID)]

def get_init_inputs():
    return [IN, HID, LAYERS]
