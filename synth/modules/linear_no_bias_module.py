import torch
import torch.nn as nn

class Model(nn.Module):
    """
    A single fully connected layer.

    Args:
        in_features (int): size of each input sample
        out_features (int): size of each output sample
        bias (bool): learn an additive bias
    """
    def __init__(self, in_features: int, out_features: int, bias: bool = False):
        super(Model, self).__init__()
        self.linear = nn.Linear(in_features, out_features, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)

batch_size = 500
in_features = 1250
out_features = 730

def get_inputs():
    return [torch.randn(batch_size, in_features)]

def get_init_inputs():
    return [in_features, out_features]
