from typing import NamedTuple

import torch
import torch.nn as nn


class Belief(NamedTuple):
    mean: torch.Tensor
    var: torch.Tensor


class Model(nn.Module):
    # many independent scalar Kalman filters: predict, then correct where a measurement exists
    def __init__(self, a, process_noise, meas_noise):
        super().__init__()
        self.a, self.q, self.r = a, process_noise, meas_noise

    def predict(self, b):
        return Belief(self.a * b.mean, self.a ** 2 * b.var + self.q)

    def correct(self, b, z, seen):
        gain = b.var / (b.var + self.r)
        gain = gain * seen
        return Belief(b.mean + gain * (z - b.mean), (1 - gain) * b.var)

    def forward(self, mean, var, z, seen):
        belief = self.correct(self.predict(Belief(mean, var)), z, seen.float())
        return belief.mean, belief.var


def get_inputs():
    n = 333_333
    return [torch.randn(n), torch.rand(n) + 0.1, torch.randn(n), torch.rand(n) > 0.3]


def get_init_inputs():
    return [0.98, 0.05, 0.4]
