import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    SLOPE = 0.1

    def __init__(self, ch, k, u):
        super().__init__()
        self.ups = nn.ConvTranspose1d(ch, ch // 2, k, u, padding=(k - u) // 2)
        self.ups.weight.data.normal_(0.0, 0.01)

    def forward(self, mel):
        return self.ups(F.leaky_relu(mel, self.SLOPE))


def get_inputs():
    return [torch.randn(4, 128, 250)]


def get_init_inputs():
    return [128, 16, 8]
