import torch
import torch.nn as nn
import torch.nn.functional as F


class DenseLayer(nn.Module):
    def __init__(self, c_in, growth):
        super().__init__()
        self.norm = nn.BatchNorm2d(c_in)
        self.conv = nn.Conv2d(c_in, growth, 3, padding=1, bias=False)

    def forward(self, feats):
        x = torch.cat(feats, dim=1)
        return self.conv(F.relu(self.norm(x)))


class Model(nn.Module):
    def __init__(self, c0=20, growth=12, n_layers=4, n_out=30):
        super().__init__()
        self.first = nn.Conv2d(1, c0, 5, stride=2, padding=2)
        self.layers = nn.ModuleList([DenseLayer(c0 + i * growth, growth) for i in range(n_layers)])
        self.head = nn.Linear(c0 + n_layers * growth, n_out)

    def forward(self, x):
        feats = [self.first(x)]
        for layer in self.layers:
            feats.append(layer(feats))
        out = torch.cat(feats, 1).mean(dim=(2, 3))
        return self.head(out)


N, H, W = 24, 60, 84


def get_inputs():
    return [torch.randn(N, 1, H, W)]


def get_init_inputs():
    return [20, 12, 4, 30]
