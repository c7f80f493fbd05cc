import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, padding_mode):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2, padding_mode=padding_mode)

    def forward(self, img):
        return self.conv(img)


def get_inputs():
    return [torch.rand(6, 3, 144, 144)]


def get_init_inputs():
    return [3, 24, 5, "reflect"]
