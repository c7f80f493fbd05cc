import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Cumulative sum in which only the entries marked by a mask take part.

    Parameters:
        dim (int): dimension of the scan.
    """

    def __init__(self, dim):
        super(Model, self).__init__()
        self.dim = dim

    def forward(self, values, mask):
        """
        Args:
            values (torch.Tensor): (batch, n)
            mask (torch.Tensor): boolean, same shape
        """
        return torch.cumsum(values.masked_fill(~mask, 0.0), dim=self.dim)

def get_inputs():
    values = torch.randn(140, 3200)
    mask = torch.rand(140, 3200) < 0.6
    return [values, mask]

def get_init_inputs():
    return [-1]
