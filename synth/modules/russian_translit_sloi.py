import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vhod, skrytyj, vyhod):
        super().__init__()
        self.sloj_odin = nn.Linear(vhod, skrytyj)
        self.sloj_dva = nn.Linear(skrytyj, vyhod)
        self.sdvig = nn.Parameter(torch.zeros(skrytyj))

    def forward(self, dannye):
        promezhutok = self.sloj_odin(dannye) + self.sdvig
        promezhutok = torch.where(promezhutok > 0, promezhutok, torch.expm1(promezhutok))
        otvet = self.sloj_dva(promezhutok)
        summa = otvet.abs().sum(dim=1, keepdim=True) + 1e-8
        return otvet / summa


def get_inputs():
    return [torch.randn(888, 160)]


def get_init_inputs():
    return [160, 240, 72]
