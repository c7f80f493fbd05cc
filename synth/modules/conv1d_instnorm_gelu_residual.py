import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, channels: int, kernel_size: int = 5):
        super().__init__()
        self.conv_in = nn.Conv1d(channels, channels, kernel_size, padding=kernel_size // 2)
        self.inorm = nn.InstanceNorm1d(channels, affine=True)
        self.act = nn.GELU()

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        branch = self.act(self.inorm(self.conv_in(signal)))
        return signal + 0.5 * branch

def get_inputs():
    return [torch.randn(8, 48, 1000)]

def get_init_inputs():
    return [48]
