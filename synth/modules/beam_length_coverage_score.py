import torch
import torch.nn as nn


class Model(nn.Module):
    """GNMT: length penalty and coverage penalty of finished hypotheses."""

    def __init__(self, alpha=0.6, beta=0.2):
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, token_logps, lengths, attention):
        # token_logps (N, T), attention (N, T, S)
        T = token_logps.shape[1]
        alive = (torch.arange(T, device=lengths.device) < lengths.unsqueeze(1)).to(token_logps.dtype)
        total = (token_logps * alive).sum(1)
        lp = ((5.0 + lengths) / 6.0) ** self.alpha
        coverage = (attention * alive.unsqueeze(2)).sum(1)
        cp = self.beta * torch.log(coverage.clamp(1e-6, 1.0)).sum(-1)
        return total / lp + cp


def get_inputs():
    N, T, S = 256, 40, 64
    return [-torch.rand(N, T) * 4, torch.randint(5, T + 1, (N,)), torch.softmax(torch.randn(N, T, S), -1)]


def get_init_inputs():
    return []
