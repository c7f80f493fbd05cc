import torch
import torch.nn as nn


class Model(nn.Module):
    """Gradient and diagonal Hessian of penalised logistic regression."""

    def __init__(self, n_features, l2=1e-3):
        super().__init__()
        self.coef = nn.Parameter(torch.randn(n_features) * 0.1)
        self.intercept = nn.Parameter(torch.zeros(()))
        self.l2 = l2

    def forward(self, design, outcome):
        eta = design @ self.coef + self.intercept
        mu = torch.sigmoid(eta)
        resid = mu - outcome
        working = mu * (1 - mu)
        grad = design.t().mv(resid) / len(outcome) + self.l2 * self.coef
        hess_diag = (design.square() * working[:, None]).mean(0) + self.l2
        return grad, hess_diag, self.coef - grad / hess_diag


def get_inputs():
    return [torch.randn(10000, 90), torch.randint(0, 2, (10000,)).float()]


def get_init_inputs():
    return [90]
