import torch
import torch.nn as nn


class Model(nn.Module):
    """Soft routing of parts to wholes for a fixed count of iterations, on plain vectors."""

    def __init__(self, n_in, d_in, n_out, d_out, iters):
        super().__init__()
        self.W = nn.Parameter(0.05 * torch.randn(n_in, n_out, d_in, d_out))
        self.iters = iters

    def forward(self, u):
        # u: (B, n_in, d_in) -> votes (B, n_in, n_out, d_out)
        votes = torch.einsum("bid,iode->bioe", u, self.W)
        logits = votes.new_zeros(votes.shape[:3])
        for r in range(self.iters):
            c = torch.softmax(logits, dim=2)
            v = torch.tanh((c.unsqueeze(-1) * votes).sum(dim=1))
            if r < self.iters - 1:
                logits = logits + (votes * v.unsqueeze(1)).sum(-1)
        return v


def get_inputs():
    return [torch.randn(48, 140, 12)]


def get_init_inputs():
    return [140, 12, 10, 18, 3]
