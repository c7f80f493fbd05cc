import torch
import torch.nn as nn


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super(Chomp1d, self).__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, :-self.chomp_size].contiguous()


class Model(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, dilation):
        super(Model, self).__init__()
        pad = (kernel_size - 1) * dilation
        self.net = nn.Sequential(
            nn.Conv1d(n_inputs, n_outputs, kernel_size, padding=pad, dilation=dilation), Chomp1d(pad), nn.ReLU(),
            nn.Conv1d(n_outputs, n_outputs, kernel_size, padding=pad, dilation=dilation), Chomp1d(pad), nn.ReLU())
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.net(x) + self.downsample(x))


def get_inputs():
    return [torch.randn(16, 25, 400)]


def get_init_inputs():
    return [25, 64, 3, 4]
