import torch
import torch.nn as nn


class Model(nn.Module):
    """Router restricted to the best groups of experts: the sum of each group's two best scores decides."""

    def __init__(self, d, n_experts=32, n_groups=8, topk_groups=3):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n_experts, d) * 0.05)
        self.n_groups, self.topk_groups = n_groups, topk_groups

    def forward(self, x):
        s = torch.sigmoid(x @ self.w.t())
        grouped = s.view(s.shape[0], self.n_groups, -1)
        group_score = grouped.topk(2, dim=-1)[0].sum(dim=-1)
        group_idx = group_score.topk(self.topk_groups, dim=-1)[1]
        mask = torch.zeros_like(group_score).scatter(1, group_idx, 1.0)
        return (grouped * mask.unsqueeze(-1)).flatten(1)


def get_inputs():
    return [torch.randn(4000, 200)]


def get_init_inputs():
    return [200]
