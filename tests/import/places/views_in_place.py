"""Views that kernels read: parts, items, moved and expanded axes, windows that overlap."""
import torch
import torch.nn as nn

ROWS, COLS = 12, 36


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(5, COLS))

    def forward(self, x, y):
        first, second, third = x.split([8, 8, 20], dim=-1)
        left, right = y.unbind(1)
        gated = torch.sigmoid(first) * second + third[..., 4:20:2]
        turned = x.transpose(0, 1)[1:, :, None] * left.t().unsqueeze(-1)[:35] + self.table.t()[:35, None, 2:3].expand(35, ROWS, 1)
        centred = x - x.mean(1, keepdim=True).expand_as(x)
        scaled = centred.reshape(ROWS, 6, 6) / (right.reshape(ROWS, 6, 6).permute(0, 2, 1).abs() + 1)
        windows = x.unfold(1, 6, 3)
        return gated, turned.squeeze(-1), scaled, (windows * windows).sum(-1), torch.tanh(self.table[1:3]).sum(0)


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, 2, COLS)]


def get_init_inputs():
    return []
