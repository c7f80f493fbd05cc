import torch
import torch.nn as nn


class Model(nn.Module):
    """Elo update of pairs with a home advantage and a margin-of-victory multiplier."""

    def __init__(self, k=20.0, home=65.0, scale=400.0):
        super().__init__()
        self.k, self.home, self.scale = k, home, scale

    def forward(self, rating_home, rating_away, goals_home, goals_away):
        diff = rating_home + self.home - rating_away
        expected = 1.0 / (1.0 + 10.0 ** (-diff / self.scale))
        gd = (goals_home - goals_away).to(diff.dtype)
        outcome = 0.5 * (gd.sign() + 1.0)
        mult = torch.log1p(gd.abs()) * 2.2 / (0.001 * diff * gd.sign() + 2.2)
        change = self.k * mult * (outcome - expected)
        return rating_home + change, rating_away - change


def get_inputs():
    n = 180_321
    r = lambda: 1500 + 150 * torch.randn(n)
    g = lambda: torch.randint(0, 6, (n,))
    return [r(), r(), g(), g()]


def get_init_inputs():
    return []
