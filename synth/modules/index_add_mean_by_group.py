import torch
import torch.nn as nn


class Model(nn.Module):
    """Mean of the rows of each group (segment mean)."""

    def __init__(self, num_groups: int):
        super().__init__()
        self.num_groups = num_groups

    def forward(self, rows, group):
        total = torch.zeros(self.num_groups, rows.shape[1], device=rows.device).index_add(0, group, rows)
        count = torch.zeros(self.num_groups, device=rows.device).index_add(0, group, torch.ones_like(rows[:, 0]))
        return total / count.clamp(min=1).unsqueeze(1)


def get_inputs():
    return [torch.randn(20000, 64), torch.randint(0, 500, (20000,))]


def get_init_inputs():
    return [500]
