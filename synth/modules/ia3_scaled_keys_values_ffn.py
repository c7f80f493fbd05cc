import torch
import torch.nn as nn


class Model(nn.Module):
    """(IA)^3: learned vectors rescale key, value and the inner activations of the feed-forward."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.l_k = nn.Parameter(torch.ones(d_model) + 0.1 * torch.randn(d_model))
        self.l_v = nn.Parameter(torch.ones(d_model))
        self.l_ff = nn.Parameter(torch.rand(d_ff) + 0.5)
        self.wi = nn.Linear(d_model, d_ff, bias=False)
        self.wo = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, q, k, v):
        k, v = k * self.l_k, v * self.l_v
        attn = torch.softmax(q.bmm(k.transpose(1, 2)), dim=2).bmm(v)
        return self.wo(torch.relu(self.wi(attn)) * self.l_ff)


def get_inputs():
    return [torch.randn(4, 100, 128) * 0.2, torch.randn(4, 140, 128), torch.randn(4, 140, 128)]


def get_init_inputs():
    return [128, 512]
