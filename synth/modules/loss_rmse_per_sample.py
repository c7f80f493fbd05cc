import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, eps: float = 1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, yhat, y):
        mse = F.mse_loss(yhat, y, reduction="none").flatten(start_dim=1).mean(dim=1)
        return torch.sqrt(mse + self.eps)


def get_inputs():
    return [torch.randn(48, 3, 90, 90), torch.randn(48, 3, 90, 90)]


def get_init_inputs():
    return []
