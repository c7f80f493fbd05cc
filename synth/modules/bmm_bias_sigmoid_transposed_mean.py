import torch
import torch.nn as nn


class Model(nn.Module):
    """Batched product with a transposed right side, a bias matrix, sigmoid and mean of the columns."""

    def __init__(self, rows, cols):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(rows, cols) * 0.1)

    def forward(self, q, k):
        scores = torch.bmm(q, k.transpose(1, 2))
        scores = torch.sigmoid(scores * q.size(-1) ** -0.5 + self.bias)
        return scores.mean(dim=1)


def get_inputs():
    return [torch.randn(12, 130, 64), torch.randn(12, 90, 64)]


def get_init_inputs():
    return [130, 90]
