import torch
import torch.nn as nn


class Model(nn.Module):
    """Energy of filters: Conv1d, square, average pool, log compression with a floor."""

    def __init__(self, n_filters, filter_len, frame, floor):
        super().__init__()
        self.bank = nn.Conv1d(1, n_filters, filter_len, padding=filter_len // 2, bias=False)
        self.frame_pool = nn.AvgPool1d(frame, frame // 2)
        self.floor = floor

    def forward(self, wave):
        sub = self.bank(wave.unsqueeze(1))
        power = self.frame_pool(sub ** 2)
        return torch.log(torch.clamp_min(power, self.floor))


def get_inputs():
    return [torch.randn(24, 6000)]


def get_init_inputs():
    return [24, 41, 200, 1e-4]
