import torch
import torch.nn as nn


class Model(nn.Module):
    """Logits of a similarity matrix with the diagonal removed, then row-wise log-sum-exp."""

    def forward(self, sim):
        n = sim.shape[-1]
        eye = torch.eye(n, dtype=torch.bool, device=sim.device)
        return sim.masked_fill(eye, float("-inf")).logsumexp(dim=-1)


def get_inputs():
    return [torch.randn(3, 900, 900)]


def get_init_inputs():
    return []
