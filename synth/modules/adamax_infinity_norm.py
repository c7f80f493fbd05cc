import torch
import torch.nn as nn


class Model(nn.Module):
    """Adamax keeps an exponentially decayed maximum of the gradient magnitude."""

    lr = 2e-3
    beta_1 = 0.9
    beta_2 = 0.999

    def __init__(self, t):
        super().__init__()
        self.correction = 1 - self.beta_1 ** t

    def forward(self, weights, gradient, first, inf_norm):
        first = first.mul(self.beta_1).add(gradient, alpha=1 - self.beta_1)
        inf_norm = torch.maximum(inf_norm.mul(self.beta_2), gradient.abs().add(1e-8))
        weights = weights.addcdiv(first, inf_norm, value=-self.lr / self.correction)
        return weights, first, inf_norm


def get_inputs():
    return [torch.randn(768, 768), torch.randn(768, 768), torch.randn(768, 768), torch.rand(768, 768)]


def get_init_inputs():
    return [12]
