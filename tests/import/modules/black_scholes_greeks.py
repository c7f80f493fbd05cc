"""European option prices and Greeks in double precision."""
import math
import torch
from torch import Tensor

OPTIONS = 40_000
SQRT2 = math.sqrt(2.0)


def ncdf(x: Tensor) -> Tensor:
    return 0.5 * (1.0 + torch.erf(x / SQRT2))


def npdf(x: Tensor) -> Tensor:
    return torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


class Model(torch.nn.Module):
    def __init__(self, rate: float, dividend: float):
        super().__init__()
        self.r = rate
        self.q = dividend

    def forward(self, spot: Tensor, strike: Tensor, tau: Tensor, sigma: Tensor, is_call: Tensor):
        st = sigma * tau.sqrt()
        d1 = (torch.log(spot / strike) + (self.r - self.q + 0.5 * sigma ** 2) * tau) / st
        d2 = d1 - st
        df_r, df_q = torch.exp(-self.r * tau), torch.exp(-self.q * tau)
        phi = torch.where(is_call, 1.0, -1.0).to(spot.dtype)
        price = phi * (spot * df_q * ncdf(phi * d1) - strike * df_r * ncdf(phi * d2))
        return {
            "price": price,
            "delta": phi * df_q * ncdf(phi * d1),
            "gamma": df_q * npdf(d1) / (spot * st),
            "vega": spot * df_q * npdf(d1) * tau.sqrt() / 100,
            "rho": phi * strike * tau * df_r * ncdf(phi * d2) / 100,
        }


def get_inputs():
    u = lambda lo, hi: torch.empty(OPTIONS, dtype=torch.float64).uniform_(lo, hi)
    return [u(80, 120), u(80, 120), u(0.1, 2.0), u(0.1, 0.6), torch.rand(OPTIONS) > 0.5]


def get_init_inputs():
    return [0.03, 0.01]
