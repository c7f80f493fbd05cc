import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, gamma, n):
        super().__init__()
        self.gamma = gamma
        self.n = n

    def forward(self, r, v):
        T = r.shape[1] - self.n
        G = torch.zeros_like(r[:, :T])
        for k in range(self.n):
            G = G + self.gamma ** k * r[:, k:k + T]
        return G + self.gamma ** self.n * v[:, self.n:self.n + T]

def get_inputs():
    return [torch.randn(512, 1003), torch.randn(512, 1003)]

def get_init_inputs():
    return [0.97, 3]
