import torch
import torch.nn as nn

class Model(nn.Module):
    """KL(q || p) of diagonal Gaussians, free bits per group of dimensions."""

    def __init__(self, free_bits):
        super().__init__()
        self.free_bits = free_bits

    def forward(self, mu_q, logvar_q, mu_p, logvar_p):
        term = logvar_p - logvar_q - 1.0
        term = term + (logvar_q - logvar_p).exp()
        term = term + (mu_q - mu_p).pow(2) * (-logvar_p).exp()
        kl = 0.5 * term.sum(dim=-1)
        return torch.clamp_min(kl, self.free_bits).mean(dim=-1)

def get_inputs():
    s = (64, 40, 96)
    return [torch.randn(s), torch.randn(s) * 0.5, torch.randn(s), torch.randn(s) * 0.5]

def get_init_inputs():
    return [3.0]
