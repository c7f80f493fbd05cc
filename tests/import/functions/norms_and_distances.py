"""Norms of any order, distances, products of vectors, and extremes among one."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES = 12, 33


class Model(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = order
        self.scale = nn.RMSNorm(FEATURES)

    def forward(self, x, y, u, v):
        total = torch.logsumexp(x, dim=1, keepdim=True)
        return [
            torch.norm(x, p=self.order, dim=1),
            torch.norm(x, p=float("inf"), dim=-1, keepdim=True),
            torch.norm(x, p=1),
            x / torch.linalg.norm(x, ord=2, dim=1, keepdim=True),
            torch.linalg.vector_norm(y, ord=0.5, dim=0),
            torch.linalg.norm(x - y),
            F.pairwise_distance(x, y, p=1.0),
            torch.cdist(x, y),
            torch.cross(u, v, dim=1),
            torch.outer(x[:, 0], y[0]),
            torch.addr(x, y[:, 1], x[2], beta=0.5),
            torch.std(x, dim=1, correction=0),
            torch.var(y, dim=(0, 1), correction=2),
            torch.max(total, dim=1, keepdim=True).values,
            torch.argmin(total, dim=1),
            torch.argmax(x),
            torch.count_nonzero(torch.round(x), dim=1),
            torch.where(torch.isnan(x), y, torch.heaviside(x, y)),
            self.scale(x * 1e-3),
            F.rms_norm(y * 1e-3, (FEATURES,)),
        ]


def get_inputs():
    return [torch.randn(ROWS, FEATURES), torch.randn(ROWS, FEATURES), torch.randn(ROWS, 3), torch.randn(ROWS, 3)]


def get_init_inputs():
    return [3]
