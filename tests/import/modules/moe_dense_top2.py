import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS, D, D_FF, N_EXPERTS, K = 256, 96, 256, 6, 2


class Expert(nn.Module):
    def __init__(self, d, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d, bias=False)
        self.w3 = nn.Linear(d, d_ff, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Model(nn.Module):
    """Every expert sees every token; the gate zeroes the rest."""

    def __init__(self, d, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(d, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d, d_ff) for _ in range(n_experts))

    def forward(self, x):
        logits = self.gate(x)
        weights, selected = torch.topk(logits, self.k, dim=-1)
        weights = F.softmax(weights, dim=-1, dtype=torch.float).to(x.dtype)
        dense = torch.zeros_like(logits).scatter_(-1, selected, weights)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out += dense[..., i:i + 1] * expert(x)
        # load-balancing loss of Switch
        probs = logits.softmax(-1)
        frac = F.one_hot(selected[:, 0], num_classes=len(self.experts)).float().mean(0)
        aux = len(self.experts) * (frac * probs.mean(0)).sum()
        return out, aux


def get_inputs():
    return [torch.randn(TOKENS, D)]


def get_init_inputs():
    return [D, D_FF, N_EXPERTS, K]
