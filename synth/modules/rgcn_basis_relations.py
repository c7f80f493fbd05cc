import torch
import torch.nn as nn


class Model(nn.Module):
    """Relational GCN with basis decomposition, messages normalised outside."""

    def __init__(self, d_in, d_out, num_rels, num_bases):
        super().__init__()
        self.bases = nn.Parameter(torch.randn(num_bases, d_in, d_out) * d_in**-0.5)
        self.w_comp = nn.Parameter(torch.randn(num_rels, num_bases) * 0.5)
        self.loop_weight = nn.Parameter(torch.randn(d_in, d_out) * d_in**-0.5)

    def forward(self, h, src, dst, etype, norm):
        per_basis = torch.einsum("ni,bio->nbo", h, self.bases)
        coef = self.w_comp[etype] * norm[:, None]
        msg = torch.einsum("eb,ebo->eo", coef, per_basis[src])
        agg = torch.zeros(h.shape[0], msg.shape[1], device=h.device).index_add(0, dst, msg)
        return torch.relu(agg + h @ self.loop_weight)


def get_inputs():
    N, E = 2000, 9000
    return [torch.randn(N, 64), torch.randint(0, N, (E,)), torch.randint(0, N, (E,)), torch.randint(0, 20, (E,)), torch.rand(E)]


def get_init_inputs():
    return [64, 48, 20, 4]
