import torch
import torch.nn as nn


class Model(nn.Module):
    """Asymmetric loss: probability shift for negatives, different focusing powers."""

    def __init__(self, gamma_neg=4, gamma_pos=1, clip=0.05, eps=1e-8):
        super(Model, self).__init__()
        self.gamma_neg = gamma_neg
        self.gamma_pos = gamma_pos
        self.clip = clip
        self.eps = eps

    def forward(self, x, y):
        # Calculating Probabilities
        xs_pos = torch.sigmoid(x)
        xs_neg = 1 - xs_pos
        # Asymmetric Clipping
        xs_neg = (xs_neg + self.clip).clamp(max=1)
        # Basic CE calculation
        loss = y * torch.log(xs_pos.clamp(min=self.eps)) + (1 - y) * torch.log(xs_neg.clamp(min=self.eps))
        # Asymmetric Focusing
        pt = xs_pos * y + xs_neg * (1 - y)
        one_sided_gamma = self.gamma_pos * y + self.gamma_neg * (1 - y)
        loss = loss * torch.pow(1 - pt, one_sided_gamma)
        return -loss.sum()


def get_inputs():
    return [torch.randn(1024, 600), (torch.rand(1024, 600) < 0.03).float()]


def get_init_inputs():
    return []
