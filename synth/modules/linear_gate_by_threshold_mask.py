import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear; values under the row mean are damped; absolute power; running share of the row total."""

    def __init__(self, fin, fout, damp=0.1, power=1.5):
        super().__init__()
        self.fc = nn.Linear(fin, fout)
        self.damp, self.power = damp, power

    def forward(self, x):
        y = self.fc(x)
        keep = y > y.mean(dim=1, keepdim=True)
        y = torch.where(keep, y, self.damp * y)
        e = y.abs().add(1e-5).pow(self.power)
        return e.cumsum(dim=1) / e.sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(620, 290)]


def get_init_inputs():
    return [290, 430]
