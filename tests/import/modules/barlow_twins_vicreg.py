import torch
import torch.nn as nn
import torch.nn.functional as F

N, D = 256, 256


def off_diagonal(x):
    # return a flattened view of the off-diagonal elements of a square matrix
    n, m = x.shape
    assert n == m
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class Model(nn.Module):
    def __init__(self, d, lambd=0.0051, weights=(25.0, 25.0, 1.0)):
        super().__init__()
        self.bn = nn.BatchNorm1d(d, affine=False)
        self.lambd = lambd
        self.sim_coeff, self.std_coeff, self.cov_coeff = weights

    def barlow(self, z1, z2):
        c = self.bn(z1).T @ self.bn(z2)
        c.div_(z1.shape[0])
        on_diag = torch.diagonal(c).add_(-1).pow_(2).sum()
        off_diag = off_diagonal(c).pow_(2).sum()
        return on_diag + self.lambd * off_diag

    def vicreg(self, x, y):
        repr_loss = F.mse_loss(x, y)
        x = x - x.mean(dim=0)
        y = y - y.mean(dim=0)
        std_x, std_y = torch.sqrt(x.var(dim=0) + 0.0001), torch.sqrt(y.var(dim=0) + 0.0001)
        std_loss = torch.mean(F.relu(1 - std_x)) / 2 + torch.mean(F.relu(1 - std_y)) / 2
        cov_x = (x.T @ x) / (x.shape[0] - 1)
        cov_y = (y.T @ y) / (y.shape[0] - 1)
        cov_loss = off_diagonal(cov_x).pow(2).sum().div(x.shape[1]) + off_diagonal(cov_y).pow(2).sum().div(y.shape[1])
        return self.sim_coeff * repr_loss + self.std_coeff * std_loss + self.cov_coeff * cov_loss

    def forward(self, z1, z2):
        return {"barlow": self.barlow(z1, z2), "vicreg": self.vicreg(z1, z2)}


def get_inputs():
    z = torch.randn(N, D)
    return [z + 0.1 * torch.randn(N, D), z + 0.1 * torch.randn(N, D)]


def get_init_inputs():
    return [D]
