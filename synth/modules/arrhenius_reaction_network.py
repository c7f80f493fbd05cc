import torch
import torch.nn as nn


class Model(nn.Module):
    """Rates of a small mass-action network at given temperatures; log-space powers of concentrations."""

    R_GAS = 8.314e-3

    def __init__(self, species, reactions):
        super().__init__()
        self.log_A = nn.Parameter(torch.rand(reactions) * 2)
        self.E_a = nn.Parameter(torch.rand(reactions) * 10 + 5)
        g = torch.randint(0, 3, (reactions, species)).float()
        self.register_buffer("order", g)
        self.register_buffer("stoich", torch.randint(-1, 2, (reactions, species)).float())

    def forward(self, conc, temperature):
        log_c = torch.log(conc.clamp(min=1e-6))
        log_k = self.log_A - self.E_a / (self.R_GAS * temperature[:, None])
        rate = torch.exp((log_k + log_c @ self.order.t()).clamp(max=20.0))
        return rate @ self.stoich, rate


def get_inputs():
    return [torch.rand(10000, 20), torch.rand(10000) * 700 + 300]


def get_init_inputs():
    return [20, 48]
