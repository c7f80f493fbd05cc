"""Regression by one wide hidden layer with ReLU and a linear head with a single output."""
import torch
import torch.nn as nn

SAMPLES = 4096
FEATURES = 16
WIDTH = 2048


class Model(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.hidden = nn.Linear(features, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(torch.relu(self.hidden(x))).squeeze(1)


def get_inputs():
    return [torch.randn(SAMPLES, FEATURES)]


def get_init_inputs():
    return [FEATURES, WIDTH]
