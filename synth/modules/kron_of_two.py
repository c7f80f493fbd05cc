import torch
import torch.nn as nn


class Model(nn.Module):
    # Kronecker product of two small matrices by broadcasting and a reshape
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        m, n = A.shape
        p, q = B.shape
        return (A.view(m, 1, n, 1) * B.view(1, p, 1, q)).reshape(m * p, n * q)


def get_inputs():
    return [torch.randn(60, 44), torch.randn(40, 32)]


def get_init_inputs():
    return []
