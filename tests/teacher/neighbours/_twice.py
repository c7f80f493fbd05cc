import torch
def twice(x):
    return torch.tanh(x) * 2
