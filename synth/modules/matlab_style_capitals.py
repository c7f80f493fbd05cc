import torch;
import torch.nn as nn;

class Model(nn.Module):
    def __init__(self, N, M, K):
        super().__init__();
        self.W1 = nn.Parameter(torch.randn(N, M) / N**0.5);
        self.B1 = nn.Parameter(torch.zeros(1, M));
        self.W2 = nn.Parameter(torch.randn(M, K) / M**0.5);
        self.B2 = nn.Parameter(torch.zeros(1, K));

    def forward(self, X):
        Z1 = X @ self.W1 + self.B1;
        A1 = 1. / (1 + torch.exp(-Z1));
        Z2 = A1 @ self.W2 + self.B2;
        Y = Z2 - torch.log(torch.sum(torch.exp(Z2), dim=1, keepdim=True));
        return Y;

def get_inputs():
    return [torch.randn(1000, 150)];

def get_init_inputs():
    return [150, 200, 50];
