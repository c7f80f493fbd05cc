import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, A, B):
        # non-negative similarities with rows summing to one
        S = torch.matmul(A, B.T).relu()
        return S / (S.sum(dim=1, keepdim=True) + self.eps)


def get_inputs():
    return [torch.randn(600, 128), torch.randn(480, 128)]


def get_init_inputs():
    return []
