import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.fc = nn.Linear(input_size, hidden_size)

    def forward(self, x):
        return torch.relu(torch.logsumexp(self.fc(x), dim=-1))


def get_inputs():
    return [torch.randn(1300, 310)]


def get_init_inputs():
    return [310, 530]
