import torch
import torch.nn as nn


class moving_avg(nn.Module):
    def __init__(self, kernel_size, stride):
        super(moving_avg, self).__init__()
        self.kernel_size = kernel_size
        self.avg = nn.AvgPool1d(kernel_size=kernel_size, stride=stride, padding=0)

    def forward(self, x):
        front = x[:, 0:1, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        x = torch.cat([front, x, end], dim=1)
        x = self.avg(x.permute(0, 2, 1))
        return x.permute(0, 2, 1)


class Model(nn.Module):
    """Decomposition-Linear with own weights for every channel."""

    def __init__(self, seq_len, pred_len, channels, kernel_size=25):
        super(Model, self).__init__()
        self.decomposition = moving_avg(kernel_size, stride=1)
        self.Linear_Seasonal = nn.Parameter((1 / seq_len) * torch.ones(channels, pred_len, seq_len))
        self.Linear_Trend = nn.Parameter(torch.randn(channels, pred_len, seq_len) * 0.05)

    def forward(self, x):
        trend_init = self.decomposition(x)
        seasonal_init = x - trend_init
        out = torch.einsum("blc,cpl->bpc", seasonal_init, self.Linear_Seasonal)
        return out + torch.einsum("blc,cpl->bpc", trend_init, self.Linear_Trend)


def get_inputs():
    return [torch.randn(32, 96, 7)]


def get_init_inputs():
    return [96, 192, 7]
