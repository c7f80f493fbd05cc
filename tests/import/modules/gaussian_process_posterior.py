import torch
import math

TRAIN, TEST, DIMS = 128, 64, 4


class Kernel(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.raw_lengthscale = torch.nn.Parameter(torch.zeros(dims))
        self.raw_outputscale = torch.nn.Parameter(torch.tensor(0.3))

    @property
    def lengthscale(self):
        return torch.nn.functional.softplus(self.raw_lengthscale)

    @property
    def outputscale(self):
        return torch.nn.functional.softplus(self.raw_outputscale)

    def forward(self, a, b):
        d = torch.cdist(a / self.lengthscale, b / self.lengthscale)
        s = math.sqrt(5.0) * d
        return self.outputscale * (1 + s + s ** 2 / 3) * torch.exp(-s)


class Model(torch.nn.Module):
    """Matern-5/2 regression: predictive mean, variance and log marginal likelihood."""

    def __init__(self, dims, noise=0.05):
        super().__init__()
        self.kernel = Kernel(dims)
        self.noise = noise

    def forward(self, X, y, Xs):
        n = X.shape[0]
        K = self.kernel(X, X) + self.noise * torch.eye(n, dtype=X.dtype, device=X.device)
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(y.unsqueeze(-1), L)
        Ks = self.kernel(X, Xs)
        mean = (Ks.mT @ alpha).squeeze(-1)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        var = self.kernel.outputscale - v.square().sum(0)
        lml = -0.5 * y @ alpha.squeeze(-1) - L.diagonal().log().sum() - n / 2 * math.log(2 * math.pi)
        return mean, var.clamp(min=1e-9), lml


def get_inputs():
    X = torch.rand(TRAIN, DIMS, dtype=torch.float64)
    return [X, torch.sin(3 * X.sum(-1)) + 0.1 * torch.randn(TRAIN, dtype=torch.float64), torch.rand(TEST, DIMS, dtype=torch.float64)]


def get_init_inputs():
    return [DIMS]
