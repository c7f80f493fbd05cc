from collections import OrderedDict
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            OrderedDict(
                [
                    ("squeeze", nn.Conv2d(24, 8, kernel_size=1)),
                    ("norm", nn.GroupNorm(num_groups=2, num_channels=8)),
                    ("nonlin", nn.Hardswish()),
                    ("spatial", nn.Conv2d(8, 8, kernel_size=(3, 3), padding="same", groups=8)),
                    ("expand", nn.Conv2d(8, 24, kernel_size=1, bias=False)),
                ]
            )
        )

    def forward(self, feature_map):
        return feature_map + self.body(feature_map)


def get_inputs():
    return [torch.randn(8, 24, 60, 84)]


def get_init_inputs():
    return []
