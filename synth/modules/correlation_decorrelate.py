import torch


def off_diagonal(m):
    n = m.shape[0]
    return m.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class Model(torch.nn.Module):
    def __init__(self, dim, lambd=5e-3):
        super(Model, self).__init__()
        self.bn = torch.nn.BatchNorm1d(dim, affine=False)
        self.lambd = lambd

    def forward(self, z1, z2):
        c = self.bn(z1).T @ self.bn(z2)
        c = c / z1.shape[0]
        on_diag = (torch.diagonal(c) - 1).pow(2).sum()
        off_diag = off_diagonal(c).pow(2).sum()
        return on_diag + self.lambd * off_diag


def get_inputs():
    return [torch.randn(1500, 410), torch.randn(1500, 410)]


def get_init_inputs():
    return [410, 0.01]
