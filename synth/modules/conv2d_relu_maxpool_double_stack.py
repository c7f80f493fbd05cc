import torch
import torch.nn as nn


class Model(nn.Module):
    """Two rounds of conv-relu-maxpool, flattened and projected with log-softmax."""

    def __init__(self, in_ch, widths, fc_in, n_class):
        super().__init__()
        w1, w2 = widths
        self.conv_1 = nn.Conv2d(in_ch, w1, 5)
        self.conv_2 = nn.Conv2d(w1, w2, 3)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(fc_in, n_class)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv_1(x)))
        x = self.pool(torch.relu(self.conv_2(x)))
        x = x.view(x.size(0), -1)
        return torch.log_softmax(self.fc(x), dim=1)


def get_inputs():
    return [torch.randn(96, 1, 36, 36)]


def get_init_inputs():
    return [1, (12, 24), 24 * 7 * 7, 43]
