import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Hinge loss of every sample; positives weigh more than negatives."""

    def __init__(self, margin: float, pos_weight: float):
        super(Model, self).__init__()
        self.margin = margin
        self.pos_weight = pos_weight

    def forward(self, f, y):
        slack = F.relu(self.margin - y * f)
        w = torch.where(y > 0, self.pos_weight, 1.0)
        return (w * slack).sum(1)


def get_inputs():
    return [torch.randn(3500, 150), torch.randint(0, 2, (3500, 150)).float() * 2 - 1]


def get_init_inputs():
    return [0.9, 3.0]
