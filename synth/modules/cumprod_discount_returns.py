import torch
import torch.nn as nn


class Model(nn.Module):
    """Discounted return of the first step: sum_t (prod_{s<t} gamma_s) r_t"""

    def forward(self, rewards, gammas):
        discount = torch.cumprod(gammas, dim=1) / gammas
        return (discount * rewards).sum(dim=1)


def get_inputs():
    return [torch.randn(4000, 120), torch.rand(4000, 120) * 0.05 + 0.95]


def get_init_inputs():
    return []
