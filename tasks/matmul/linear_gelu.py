"""Linear layer with bias, followed by the exact GELU."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 512
IN_FEATURES = 512
OUT_FEATURES = 768


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        return F.gelu(self.proj(x))


def get_inputs():
    return [torch.randn(TOKENS, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
