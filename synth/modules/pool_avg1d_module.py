import torch
import torch.nn as nn

class Model(nn.Module):
    """
    1D average pooling.
    """
    def __init__(self, kernel_size: int, stride: int = 1, padding: int = 0):
        super(Model, self).__init__()
        self.avg_pool = nn.AvgPool1d(kernel_size, stride=stride, padding=padding, count_include_pad=False)

    def forward(self, x):
        return self.avg_pool(x)

batch_size = 12
in_channels = 50
input_length = 3001

def get_inputs():
    x = torch.rand(batch_size, in_channels, input_length)
    return [x]

def get_init_inputs():
    return [7, 3, 3]
