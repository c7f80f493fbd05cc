import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.features = features
        self.heads = heads
        self.to_qk = nn.Linear(features, 2 * features, bias=False)

    @property
    def head_dim(self):
        return self.features // self.heads

    @property
    def inverse_scale(self):
        return self.head_dim ** -0.5

    def forward(self, x):
        B, T, _ = x.shape
        q, k = self.to_qk(x).chunk(2, dim=-1)
        q = q.view(B, T, self.heads, self.head_dim).transpose(1, 2)
        k = k.view(B, T, self.heads, self.head_dim).transpose(1, 2)
        return (q @ k.transpose(-2, -1) * self.inverse_scale).softmax(-1)


def get_inputs():
    return [torch.randn(4, 128, 256)]


def get_init_inputs():
    return [256, 8]
