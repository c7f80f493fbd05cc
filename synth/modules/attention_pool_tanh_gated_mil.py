import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Gated attention pooling over a bag of instances (multiple instance learning)."""

    def __init__(self, M, L, K):
        super().__init__()
        self.M, self.L, self.ATTENTION_BRANCHES = M, L, K
        self.attention_V = nn.Sequential(nn.Linear(M, L), nn.Tanh())
        self.attention_U = nn.Sequential(nn.Linear(M, L), nn.Sigmoid())
        self.attention_w = nn.Linear(L, K)
        self.classifier = nn.Linear(M * K, 1)

    def forward(self, H):
        A = self.attention_w(self.attention_V(H) * self.attention_U(H))
        A = torch.transpose(A, 1, 0)   # K x instances
        A = F.softmax(A, dim=1)
        Z = torch.mm(A, H)
        return torch.sigmoid(self.classifier(Z.reshape(1, -1))), A


def get_inputs():
    return [torch.randn(2000, 256)]


def get_init_inputs():
    return [256, 128, 2]
