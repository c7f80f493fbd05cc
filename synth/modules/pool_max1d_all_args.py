import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Module that performs Max Pooling 1D.
    """
    def __init__(self, kernel_size: int, stride: int = None, padding: int = 0, dilation: int = 1, return_indices: bool = False):
        """
        Args:
            kernel_size (int): Size of the window.
            stride (int, optional): Step of the window. Defaults to None (kernel_size).
            padding (int, optional): Zeros... that is, -inf, on both sides. Defaults to 0.
            dilation (int, optional): Spacing between window elements. Defaults to 1.
            return_indices (bool, optional): Also return positions. Defaults to False.
        """
        super(Model, self).__init__()
        self.maxpool = nn.MaxPool1d(kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation, return_indices=return_indices)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)

batch_size = 20
features = 80
sequence_length = 2500
kernel_size = 5
stride = 3
padding = 2
dilation = 2
return_indices = False

def get_inputs():
    return [torch.randn(batch_size, features, sequence_length)]

def get_init_inputs():
    return [kernel_size, stride, padding, dilation, return_indices]
