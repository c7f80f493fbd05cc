import torch
import torch.nn as nn


class Model(nn.Module):
    """
    ConvTranspose2d -> global mean -> add bias -> logsumexp over channels -> subtract a constant -> sigmoid
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, bias_shape, sub):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.1)
        self.sub = sub

    def forward(self, x):
        x = self.conv_transpose(x)
        x = torch.mean(x, dim=[2, 3], keepdim=True)
        x = x + self.bias
        x = torch.logsumexp(x, dim=1, keepdim=False)
        x = x - self.sub
        return torch.sigmoid(x)


def get_inputs():
    return [torch.randn(16, 16, 24, 24)]


def get_init_inputs():
    return [16, 20, 3, 2, (20, 1, 1), 3.0]
