import torch
from torch import nn
import torch.nn.functional as F

class Model(nn.Module):
    # gazou -> tatamikomi -> seikika -> heikin
    def __init__(self, nyuuryoku, shutsuryoku, kaku=3):
        super().__init__()
        self.tatamikomi = nn.Conv2d(nyuuryoku, shutsuryoku, kaku, stride=2, padding=kaku // 2)
        self.omomi = nn.Parameter(torch.ones(shutsuryoku))

    def forward(self, gazou):
        tokuchou = self.tatamikomi(gazou)
        tokuchou = F.normalize(tokuchou, p=2.0, dim=1, eps=1e-6)
        tokuchou = tokuchou * self.omomi[None, :, None, None]
        heikin = tokuchou.mean(3).mean(2)
        saidai = tokuchou.amax((2, 3))
        return torch.cat((heikin, saidai), 1)

def get_inputs():
    return [torch.randn(10, 6, 90, 90)]

def get_init_inputs():
    return [6, 28]
