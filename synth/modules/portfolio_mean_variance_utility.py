import torch
import torch.nn as nn


class Model(nn.Module):
    """Long-only weights by softmax, expected return minus risk penalty and turnover cost."""

    def __init__(self, assets, risk_aversion, cost_bps):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(assets) * 0.05)
        root = torch.randn(assets, assets) * assets ** -0.5
        self.register_buffer("cov", root @ root.t())
        self.risk_aversion = risk_aversion
        self.cost = cost_bps * 1e-4

    def forward(self, scores, previous):
        w = scores.softmax(dim=1)
        gain = w @ self.mu
        risk = torch.einsum("bi,ij,bj->b", w, self.cov, w)
        turnover = (w - previous).abs().sum(1)
        return gain - 0.5 * self.risk_aversion * risk - self.cost * turnover


def get_inputs():
    return [torch.randn(1024, 252), torch.softmax(torch.randn(1024, 252), 1)]


def get_init_inputs():
    return [252, 4.0, 15]
