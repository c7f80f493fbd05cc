import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """SPADE: instance-normalised features get per-pixel gamma and beta from a segmentation map."""

    def __init__(self, norm_nc, label_nc, nhidden):
        super().__init__()
        self.param_free_norm = nn.InstanceNorm2d(norm_nc, affine=False)
        self.mlp_shared = nn.Sequential(nn.Conv2d(label_nc, nhidden, 3, padding=1), nn.ReLU())
        self.mlp_gamma = nn.Conv2d(nhidden, norm_nc, 3, padding=1)
        self.mlp_beta = nn.Conv2d(nhidden, norm_nc, 3, padding=1)

    def forward(self, x, segmap):
        normalized = self.param_free_norm(x)
        segmap = F.interpolate(segmap, size=x.size()[2:], mode='nearest')
        actv = self.mlp_shared(segmap)
        return normalized * (1 + self.mlp_gamma(actv)) + self.mlp_beta(actv)


def get_inputs():
    return [torch.randn(2, 64, 40, 40), torch.rand(2, 12, 80, 80)]


def get_init_inputs():
    return [64, 12, 32]
