import torch
import torch.nn as nn


class Model(nn.Module):
    """Deep biaffine arc scorer: two MLPs, a bias column on the dependent side, masked heads."""

    def __init__(self, n_hidden, n_arc):
        super().__init__()
        self.mlp_d = nn.Sequential(nn.Linear(n_hidden, n_arc), nn.LeakyReLU(0.1))
        self.mlp_h = nn.Sequential(nn.Linear(n_hidden, n_arc), nn.LeakyReLU(0.1))
        self.weight = nn.Parameter(torch.randn(n_arc + 1, n_arc) * 0.05)

    def forward(self, x, mask):
        d, h = self.mlp_d(x), self.mlp_h(x)
        d = torch.cat((d, torch.ones_like(d[..., :1])), -1)
        s_arc = torch.einsum('bxi,ij,byj->bxy', d, self.weight, h)
        s_arc = s_arc.masked_fill(~mask.unsqueeze(1), -1e5)
        return s_arc, s_arc.argmax(-1)


def get_inputs():
    return [torch.randn(32, 60, 256), torch.arange(60)[None] < torch.randint(20, 61, (32, 1))]


def get_init_inputs():
    return [256, 160]
