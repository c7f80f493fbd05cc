import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Rates of a linear map multiplied by integer exposures, sum over the units, sqrt."""

    def __init__(self, n_cov, n_units):
        super().__init__()
        self.lin = nn.Linear(n_cov, n_units)

    def forward(self, covariates, exposure):
        rate = F.softplus(self.lin(covariates))
        expected = rate * exposure.to(rate.dtype)
        return torch.sqrt(expected.sum(dim=-1))


def get_inputs():
    return [torch.randn(1000, 40), torch.randint(1, 50, (1000, 180))]


def get_init_inputs():
    return [40, 180]
