import torch
import torch.nn as nn


class moving_avg(nn.Module):
    """Moving average block to highlight the trend of time series"""

    def __init__(self, kernel_size):
        super(moving_avg, self).__init__()
        self.kernel_size = kernel_size
        self.avg = nn.AvgPool1d(kernel_size=kernel_size, stride=1, padding=0)

    def forward(self, x):
        # padding on the both ends of time series; x: (B, C, L)
        front = x[:, :, 0:1].repeat(1, 1, (self.kernel_size - 1) // 2)
        end = x[:, :, -1:].repeat(1, 1, (self.kernel_size - 1) // 2)
        return self.avg(torch.cat([front, x, end], dim=2))


class Model(nn.Module):
    def __init__(self, seq_len, pred_len, kernel_size=25):
        super(Model, self).__init__()
        self.decomp = moving_avg(kernel_size)
        self.Linear_Seasonal = nn.Linear(seq_len, pred_len)
        self.Linear_Trend = nn.Linear(seq_len, pred_len)
        self.Linear_Seasonal.weight = nn.Parameter((1 / seq_len) * torch.ones([pred_len, seq_len]))

    def forward(self, x):
        # x: [Batch, Input length, Channel]
        x = x.permute(0, 2, 1)
        trend = self.decomp(x)
        seasonal = x - trend
        y = self.Linear_Seasonal(seasonal) + self.Linear_Trend(trend)
        return y.permute(0, 2, 1)


def get_inputs():
    return [torch.randn(32, 336, 21)]


def get_init_inputs():
    return [336, 96, 25]
