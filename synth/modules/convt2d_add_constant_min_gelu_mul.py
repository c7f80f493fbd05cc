import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Transposed convolution; add a value; minimum with a cap; GELU; multiply; global max.

    Args:
        in_channels, out_channels, kernel_size, stride: of the transposed convolution
        add_value (float): constant to add
        multiply_value (float): constant to multiply with
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, add_value, multiply_value):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)
        self.add_value = add_value
        self.multiply_value = multiply_value
        self.register_buffer("cap", torch.tensor(0.75))

    def forward(self, x):
        x = self.conv_transpose(x) + self.add_value
        x = torch.minimum(x, self.cap)
        x = torch.nn.functional.gelu(x) * self.multiply_value
        return torch.amax(x, dim=(-2, -1))


batch_size = 12
in_channels = 20
out_channels = 16
height, width = 24, 24


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, 4, 2, 0.2, 3.0]
