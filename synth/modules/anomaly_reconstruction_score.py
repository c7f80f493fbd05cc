import torch
import torch.nn as nn


class Model(nn.Module):
    """Reconstruction error of a small autoencoder, standardised with stored statistics, as a probability."""

    def __init__(self, features, code, mean_err, std_err):
        super().__init__()
        self.enc = nn.Linear(features, code)
        self.dec = nn.Linear(code, features)
        self.mean_err = mean_err
        self.std_err = std_err

    def forward(self, x):
        rec = self.dec(torch.relu(self.enc(x)))
        err = (x - rec).pow(2).mean(dim=1)
        z = (err - self.mean_err) / self.std_err
        return torch.sigmoid(z), z > 3


def get_inputs():
    return [torch.randn(3400, 118)]


def get_init_inputs():
    return [118, 24, 0.9, 0.15]
