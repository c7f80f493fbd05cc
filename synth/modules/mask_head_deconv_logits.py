import torch
import torch.nn as nn
from collections import OrderedDict


class Model(nn.Module):
    def __init__(self, in_channels, dim_reduced, num_classes):
        super().__init__()
        self.layers = nn.Sequential(OrderedDict([
            ("mask_fcn1", nn.Conv2d(in_channels, dim_reduced, 3, padding=1)),
            ("relu1", nn.ReLU(inplace=True)),
            ("conv5_mask", nn.ConvTranspose2d(dim_reduced, dim_reduced, 2, 2, 0)),
            ("relu2", nn.ReLU(inplace=True)),
            ("mask_fcn_logits", nn.Conv2d(dim_reduced, num_classes, 1, 1, 0)),
        ]))

    def forward(self, x):
        return self.layers(x)


def get_inputs():
    return [torch.randn(48, 64, 14, 14)]


def get_init_inputs():
    return [64, 64, 21]
