import torch
import torch.nn as nn
import math


class MAB(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc_q = nn.Linear(dim, dim)
        self.fc_k = nn.Linear(dim, dim)
        self.fc_v = nn.Linear(dim, dim)

    def forward(self, Q, K):
        Q = self.fc_q(Q)
        K, V = self.fc_k(K), self.fc_v(K)
        A = torch.softmax(Q.bmm(K.transpose(1, 2)) / math.sqrt(Q.size(-1)), 2)
        return Q + A.bmm(V)


class Model(nn.Module):
    """Induced set attention: inducing points read the set, the set reads them back."""

    def __init__(self, dim, num_inds):
        super().__init__()
        self.I = nn.Parameter(torch.randn(1, num_inds, dim) * 0.1)
        self.mab0 = MAB(dim)
        self.mab1 = MAB(dim)

    def forward(self, X):
        H = self.mab0(self.I.repeat(X.size(0), 1, 1), X)
        return self.mab1(X, H)


def get_inputs():
    return [torch.randn(8, 300, 96)]


def get_init_inputs():
    return [96, 16]
