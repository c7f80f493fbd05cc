import torch
import torch.nn as nn


class Model(nn.Module):
    """Mean and clamped log-variance heads from a shared SiLU trunk."""

    def __init__(self, d_in, d_hidden, d_out, min_logvar=-5.0, max_logvar=2.0):
        super().__init__()
        self.trunk = nn.Linear(d_in, d_hidden)
        self.heads = nn.ModuleDict({
            "mean": nn.Linear(d_hidden, d_out),
            "logvar": nn.Linear(d_hidden, d_out),
        })
        self.min_logvar, self.max_logvar = min_logvar, max_logvar

    def forward(self, x):
        h = nn.functional.silu(self.trunk(x))
        logvar = self.heads["logvar"](h).clamp(self.min_logvar, self.max_logvar)
        return {"mean": self.heads["mean"](h), "std": torch.exp(0.5 * logvar)}


def get_inputs():
    return [torch.randn(768, 100)]


def get_init_inputs():
    return [100, 300, 60]
