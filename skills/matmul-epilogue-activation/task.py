"""Linear layer and ReLU on float16: a wide output from a short inner dimension."""
import torch
import torch.nn as nn

TOKENS = 512
IN_FEATURES = 128
OUT_FEATURES = 1024


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features, dtype=torch.float16)

    def forward(self, x):
        return torch.relu(self.proj(x))


def get_inputs():
    return [torch.randn(TOKENS, IN_FEATURES).to(torch.float16)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
