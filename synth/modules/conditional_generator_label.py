import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n_classes, z_dim, base):
        super().__init__()
        self.label_emb = nn.Embedding(n_classes, z_dim)
        self.l1 = nn.Linear(z_dim, base * 7 * 7)
        self.base = base
        self.conv1 = nn.Conv2d(base, base, 3, padding=1)
        self.conv2 = nn.Conv2d(base, base // 2, 3, padding=1)
        self.conv3 = nn.Conv2d(base // 2, 1, 3, padding=1)

    def forward(self, noise, labels):
        x = self.l1(noise * self.label_emb(labels)).view(-1, self.base, 7, 7)
        x = F.leaky_relu(self.conv1(F.interpolate(x, scale_factor=2)), 0.2)
        x = F.leaky_relu(self.conv2(F.interpolate(x, scale_factor=2)), 0.2)
        return torch.tanh(self.conv3(x))


def get_inputs():
    return [torch.randn(500, 100), torch.randint(0, 10, (500,))]


def get_init_inputs():
    return [10, 100, 32]
