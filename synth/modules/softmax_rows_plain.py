import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Softmax over the features of a batch.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        Args:
            x (torch.Tensor): (batch_size, num_features)
        Returns:
            torch.Tensor: (batch_size, num_features), rows sum to one
        """
        return torch.softmax(x, dim=-1)

batch_size = 100
num_features = 20011

def get_inputs():
    return [torch.randn(batch_size, num_features)]

def get_init_inputs():
    return []
