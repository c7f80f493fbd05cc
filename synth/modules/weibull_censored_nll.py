import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Weibull survival likelihood with right censoring; scale and shape come from two linear heads."""

    def __init__(self, dim):
        super().__init__()
        self.scale_head = nn.Linear(dim, 1)
        self.shape_head = nn.Linear(dim, 1)

    def forward(self, feats, time, event):
        lam = F.softplus(self.scale_head(feats)).squeeze(-1) + 1e-2
        k = F.softplus(self.shape_head(feats)).squeeze(-1) + 1e-1
        log_ratio = torch.log(time / lam)
        cum_hazard = torch.exp(k * log_ratio)
        log_hazard = torch.log(k / lam) + (k - 1) * log_ratio
        return cum_hazard - event * log_hazard


def get_inputs():
    n = 12000
    return [torch.randn(n, 72), torch.rand(n) * 3 + 0.05, (torch.rand(n) > 0.4).float()]


def get_init_inputs():
    return [72]
