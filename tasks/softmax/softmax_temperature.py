"""A functional task: softmax of x / temperature along the last dimension, no module involved."""
import torch

ROWS = 3072
COLS = 2048
TEMPERATURE = 0.7


def softmax_temperature(x, temperature):
    return torch.softmax(x / temperature, dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLS), TEMPERATURE]


def get_init_inputs():
    return []
