import torch
import torch.nn as nn


class Model(nn.Module):
    """(B, T, D) input is transposed for a Conv1d, ReLU, AdaptiveMaxPool1d(1), bias, L2 length of rows."""

    def __init__(self, embed_dim, num_filters, filter_size):
        super().__init__()
        self.conv = nn.Conv1d(in_channels=embed_dim, out_channels=num_filters, kernel_size=filter_size)
        self.pool = nn.AdaptiveMaxPool1d(output_size=1)
        self.bias = nn.Parameter(torch.zeros(num_filters))

    def forward(self, embedded):
        c = torch.relu(self.conv(embedded.transpose(1, 2)))
        p = self.pool(c).squeeze(2) + self.bias
        return p / p.norm(p=2, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(16, 120, 100)]


def get_init_inputs():
    return [100, 80, 4]
