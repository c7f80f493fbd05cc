import math
import torch
import torch.nn as nn


def normal_cdf(x):
    return 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class Model(nn.Module):
    """Call price, delta, vega and gamma of European options.

    Args of forward:
        spot, strike, sigma, expiry: tensors of one shape.
    """

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, spot, strike, sigma, expiry):
        root_t = expiry.sqrt()
        d1 = (torch.log(spot / strike) + (self.rate + 0.5 * sigma ** 2) * expiry) / (sigma * root_t)
        d2 = d1 - sigma * root_t
        discount = torch.exp(-self.rate * expiry)
        price = spot * normal_cdf(d1) - strike * discount * normal_cdf(d2)
        pdf = torch.exp(-0.5 * d1 * d1) / math.sqrt(2 * math.pi)
        return price, normal_cdf(d1), spot * pdf * root_t, pdf / (spot * sigma * root_t)


def get_inputs():
    n = 400_000
    return [torch.rand(n) * 50 + 75, torch.rand(n) * 50 + 75, torch.rand(n) * 0.4 + 0.1, torch.rand(n) * 2 + 0.1]


def get_init_inputs():
    return [0.03]
