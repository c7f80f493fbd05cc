import math
import torch
import torch.nn as nn


def lambda_init_fn(depth):
    return 0.8 - 0.6 * math.exp(-0.3 * depth)


class Model(nn.Module):
    """Difference of two softmax maps with a learned lambda, RMS over the head output."""

    def __init__(self, head_dim, depth):
        super().__init__()
        self.lambda_init = lambda_init_fn(depth)
        self.lambda_q1 = nn.Parameter(torch.randn(head_dim) * 0.1)
        self.lambda_k1 = nn.Parameter(torch.randn(head_dim) * 0.1)
        self.lambda_q2 = nn.Parameter(torch.randn(head_dim) * 0.1)
        self.lambda_k2 = nn.Parameter(torch.randn(head_dim) * 0.1)
        self.subln = nn.Parameter(torch.ones(2 * head_dim))

    def forward(self, q1, q2, k1, k2, v):
        scale = q1.shape[-1] ** -0.5
        a1 = torch.softmax(q1 @ k1.transpose(-1, -2) * scale, dim=-1)
        a2 = torch.softmax(q2 @ k2.transpose(-1, -2) * scale, dim=-1)
        lam = torch.exp((self.lambda_q1 * self.lambda_k1).sum()) - torch.exp((self.lambda_q2 * self.lambda_k2).sum()) + self.lambda_init
        out = (a1 - lam * a2) @ v
        out = out * torch.rsqrt(out.pow(2).mean(-1, keepdim=True) + 1e-5) * self.subln
        return out * (1 - self.lambda_init)


def get_inputs():
    s = (2, 4, 160, 32)
    return [torch.randn(s), torch.randn(s), torch.randn(s), torch.randn(s), torch.randn(2, 4, 160, 64)]


def get_init_inputs():
    return [32, 3]
