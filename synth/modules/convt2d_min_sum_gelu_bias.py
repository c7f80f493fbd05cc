import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Upsamples with a transposed convolution, takes the minimum over channels, the mean over the height, GELU, and adds a bias.
    """
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_len):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)
        self.bias = nn.Parameter(torch.randn(bias_len))

    def forward(self, x):
        x = self.conv_transpose(x)
        x = x.amin(1)                     # (B, 2H, 2W)
        x = x.mean(dim=-2)                # (B, 2W)
        x = torch.nn.functional.gelu(x)
        return x + self.bias


BATCH, CIN, COUT, H, W = 10, 24, 18, 30, 41


def get_inputs():
    return [torch.randn(BATCH, CIN, H, W)]


def get_init_inputs():
    return [CIN, COUT, 3, 2, 1, 1, 2 * W]
