"""Nelson-Siegel-Svensson discounting of coupon bonds, with duration and convexity."""
import torch
import torch.nn as nn
from dataclasses import dataclass

BONDS = 3000
MAX_COUPONS = 30


@dataclass(frozen=True)
class Svensson:
    beta0: float = 0.03
    beta1: float = -0.02
    beta2: float = 0.01
    beta3: float = 0.005
    tau1: float = 1.5
    tau2: float = 7.0


class Model(nn.Module):
    def __init__(self, curve: Svensson = Svensson(), frequency: int = 2):
        super().__init__()
        self.curve = curve
        self.frequency = frequency
        self.register_buffer("k", torch.arange(1, MAX_COUPONS + 1, dtype=torch.float64))

    def zero_rate(self, t):
        c = self.curve
        x1, x2 = t / c.tau1, t / c.tau2
        s1 = (1 - torch.exp(-x1)) / x1
        s2 = (1 - torch.exp(-x2)) / x2
        return c.beta0 + c.beta1 * s1 + c.beta2 * (s1 - torch.exp(-x1)) + c.beta3 * (s2 - torch.exp(-x2))

    def forward(self, coupon, periods, accrued):
        t = (self.k[None, :] - accrued[:, None]) / self.frequency
        live = self.k[None, :] <= periods[:, None]
        last = self.k[None, :] == periods[:, None]
        cash = torch.where(live, coupon[:, None] / self.frequency, 0.0) + last * 100.0
        df = torch.exp(-self.zero_rate(t) * t)
        pv = cash * df
        price = pv.sum(1)
        duration = (pv * t).sum(1) / price
        convexity = (pv * t * t).sum(1) / price
        return torch.stack([price - coupon * accrued / self.frequency, duration, convexity], dim=1).float()


def get_inputs():
    return [torch.rand(BONDS, dtype=torch.float64) * 6, torch.randint(1, MAX_COUPONS + 1, (BONDS,)), torch.rand(BONDS, dtype=torch.float64) * 0.9]


def get_init_inputs():
    return []
