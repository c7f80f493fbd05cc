import torch
import torch.nn as nn

class Model(nn.Module):
    """Balance, interest and principal of annuity loans for every month, in closed form."""

    def __init__(self, months):
        super().__init__()
        self.months = months
        self.register_buffer('k', torch.arange(months, dtype=torch.float32))

    def forward(self, principal, annual_rate):
        i = (annual_rate / 12)[:, None]
        P = principal[:, None]
        full = (1 + i) ** self.months
        grown = (1 + i) ** self.k
        payment = P * i * full / (full - 1)
        balance = P * grown - payment * (grown - 1) / i
        interest = balance * i
        return balance, interest, payment - interest

def get_inputs():
    return [torch.rand(3000) * 9e4 + 1e4, torch.rand(3000) * 0.08 + 0.02]

def get_init_inputs():
    return [240]
