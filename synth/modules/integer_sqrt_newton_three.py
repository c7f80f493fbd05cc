import torch
import torch.nn as nn


class Model(nn.Module):
    # integer square root: float guess, two integer Newton steps, then a correction
    def __init__(self):
        super().__init__()

    def forward(self, n):
        guess = n.float().sqrt().long().clamp(min=1)
        for _ in range(2):
            guess = torch.div(guess + torch.div(n, guess, rounding_mode="floor"), 2, rounding_mode="floor").clamp(min=1)
        too_big = guess * guess > n
        root = torch.where(too_big, guess - 1, guess)
        return root, n - root * root


def get_inputs():
    return [torch.randint(1, 1 << 20, (900, 900))]


def get_init_inputs():
    return []
