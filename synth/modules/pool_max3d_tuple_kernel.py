import torch
import torch.nn as nn

class Model(nn.Module):
    """Max pooling of a video that keeps the frame rate."""
    def __init__(self, kernel_size=(1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1)):
        super(Model, self).__init__()
        self.maxpool3d = nn.MaxPool3d(kernel_size, stride, padding)

    def forward(self, clip: torch.Tensor) -> torch.Tensor:
        return self.maxpool3d(clip)

def get_inputs():
    return [torch.randn(2, 32, 8, 56, 56)]

def get_init_inputs():
    return []
