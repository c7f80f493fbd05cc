import torch
import torch.nn as nn


class Model(nn.Module):
    # two task networks whose activations are mixed by a learned 2 x 2 matrix
    def __init__(self, d, h):
        super().__init__()
        self.a1, self.b1 = nn.Linear(d, h), nn.Linear(d, h)
        self.stitch = nn.Parameter(torch.tensor([[0.9, 0.1], [0.1, 0.9]]))
        self.a2, self.b2 = nn.Linear(h, 1), nn.Linear(h, 4)

    def forward(self, x):
        both = torch.stack((self.a1(x).relu(), self.b1(x).relu()))
        both = torch.einsum("ij,jbh->ibh", self.stitch, both)
        return self.a2(both[0]), self.b2(both[1])


def get_inputs():
    return [torch.randn(1500, 90)]


def get_init_inputs():
    return [90, 256]
