import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Layer normalization over all axes but the first.
    """
    def __init__(self, normalized_shape: tuple):
        """
        Args:
            normalized_shape (tuple): shape of one sample.
        """
        super(Model, self).__init__()
        self.ln = nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(x)

batch_size = 18
features = 24
dim1 = 72
dim2 = 72

def get_inputs():
    return [torch.randn(batch_size, features, dim1, dim2)]

def get_init_inputs():
    return [(features, dim1, dim2)]
