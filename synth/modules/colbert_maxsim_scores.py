import torch
import torch.nn as nn


class Model(nn.Module):
    """Late interaction: every query token takes its best document token; all query-document pairs."""

    def __init__(self, hidden, dim):
        super().__init__()
        self.linear = nn.Linear(hidden, dim, bias=False)

    def encode(self, states, mask):
        e = self.linear(states) * mask.unsqueeze(2).float()
        return nn.functional.normalize(e, p=2, dim=2)

    def forward(self, q_states, q_mask, d_states, d_mask):
        Q, D = self.encode(q_states, q_mask), self.encode(d_states, d_mask)
        scores = torch.einsum("qih,djh->qdij", Q, D)
        scores = scores.masked_fill(~d_mask[None, :, None, :], -9999.0)
        best = scores.max(-1).values
        return (best * q_mask[:, None, :]).sum(-1)


def get_inputs():
    qm = torch.ones(12, 32, dtype=torch.bool)
    dm = torch.arange(100)[None] < torch.randint(40, 101, (24, 1))
    return [torch.randn(12, 32, 256), qm, torch.randn(24, 100, 256), dm]


def get_init_inputs():
    return [256, 96]
