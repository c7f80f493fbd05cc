import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Dense layer followed by SiLU, a division by the square root of the width, and log-softmax.
    """
    def __init__(self, in_features, out_features):
        super(Model, self).__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.out_features = out_features

    def forward(self, x):
        x = self.linear(x)
        x = F.silu(x)
        x = x / self.out_features ** 0.5
        x = F.log_softmax(x, dim=1)
        return x

batch_size = 384
in_features = 444
out_features = 888

def get_inputs():
    return [torch.randn(batch_size, in_features)]

def get_init_inputs():
    return [in_features, out_features]
