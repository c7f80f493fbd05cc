import torch
import torch.nn as nn


class Model(nn.Module):
    """Raw waveform classifier in the spirit of M5: large first stride, then small kernels."""

    def __init__(self, n_input=1, n_output=35, stride=16, n_channel=32):
        super().__init__()
        self.conv1 = nn.Conv1d(n_input, n_channel, kernel_size=80, stride=stride)
        self.pool1 = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(n_channel, n_channel, kernel_size=3)
        self.pool2 = nn.MaxPool1d(4)
        self.conv3 = nn.Conv1d(n_channel, 2 * n_channel, kernel_size=3)
        self.pool3 = nn.MaxPool1d(4)
        self.fc1 = nn.Linear(2 * n_channel, n_output)
        self.act = nn.ReLU()

    def forward(self, wave):
        x = self.pool1(self.act(self.conv1(wave)))
        x = self.pool2(self.act(self.conv2(x)))
        x = self.pool3(self.act(self.conv3(x)))
        x = x.mean(dim=-1)
        return torch.log_softmax(self.fc1(x), dim=-1)


def get_inputs():
    return [torch.randn(40, 1, 8000)]


def get_init_inputs():
    return [1, 35, 16, 32]
