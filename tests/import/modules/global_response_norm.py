# ConvNeXt V2 block, channels last all the way
import torch
import torch.nn as nn

DIMS = 40
HW = 20

class GRN(nn.Module):
    """ GRN (Global Response Normalization) layer """
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.zeros(1, 1, 1, dim))
        self.beta = nn.Parameter(torch.zeros(1, 1, 1, dim))
        nn.init.normal_(self.gamma, std=0.3)

    def forward(self, x):
        Gx = torch.norm(x, p=2, dim=(1,2), keepdim=True)
        Nx = Gx / (Gx.mean(dim=-1, keepdim=True) + 1e-6)
        return self.gamma * (x * Nx) + self.beta + x

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU(approximate='tanh')
        self.grn = GRN(4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)

    def forward(self, x):
        input = x
        x = self.pwconv1(x)
        x = self.act(x)
        x = self.grn(x)
        x = self.pwconv2(x)
        return input + x

def get_inputs():
    return [torch.randn(2, HW, HW, DIMS)]

def get_init_inputs():
    return [DIMS]
