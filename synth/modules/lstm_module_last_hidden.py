import torch
import torch.nn as nn


class Model(nn.Module):
    """Sequence classifier: one nn.LSTM layer from zero state, linear layer on the last output."""

    def __init__(self, input_size, hidden_size, num_classes):
        super(Model, self).__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers=1, batch_first=True)
        self.fc = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


def get_inputs():
    return [torch.randn(64, 28, 40)]


def get_init_inputs():
    return [40, 128, 10]
