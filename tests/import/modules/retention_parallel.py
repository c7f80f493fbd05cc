import torch
import torch.nn as nn

HIDDEN_SIZE, SEQ_LEN, N_HEADS = 128, 160, 4


def decay_mask(sequence_length, gamma):
    n = torch.arange(sequence_length).unsqueeze(1)
    m = torch.arange(sequence_length).unsqueeze(0)
    D = (gamma ** (n - m)) * (n >= m).float()
    D[D != D] = 0  # fill NaN
    return D


class SimpleRetention(nn.Module):
    def __init__(self, hidden_size, gamma, head_size):
        super().__init__()
        self.gamma = gamma
        self.W_Q = nn.Parameter(torch.randn(hidden_size, head_size) / hidden_size)
        self.W_K = nn.Parameter(torch.randn(hidden_size, head_size) / hidden_size)
        self.W_V = nn.Parameter(torch.randn(hidden_size, head_size) / hidden_size)
        self.register_buffer("D", decay_mask(SEQ_LEN, gamma), persistent=False)

    def forward(self, X):
        Q = (X @ self.W_Q)
        K = (X @ self.W_K)
        V = X @ self.W_V
        ret = (Q @ K.permute(0, 2, 1)) * self.D.unsqueeze(0)
        return ret @ V


class Model(nn.Module):
    def __init__(self, hidden_size, heads):
        super().__init__()
        self.heads = heads
        head_size = hidden_size // heads
        self.gammas = (1 - torch.exp(torch.linspace(-3.4, -6.2, heads))).detach().cpu().tolist()
        self.swish = lambda x: x * torch.sigmoid(x)
        self.W_G = nn.Parameter(torch.randn(hidden_size, hidden_size) / hidden_size)
        self.W_O = nn.Parameter(torch.randn(hidden_size, hidden_size) / hidden_size)
        self.group_norm = nn.GroupNorm(heads, hidden_size)
        self.retentions = nn.ModuleList([SimpleRetention(hidden_size, gamma, head_size) for gamma in self.gammas])

    def forward(self, X):
        Y = []
        for i in range(self.heads):
            Y.append(self.retentions[i](X))
        Y = torch.cat(Y, dim=2)
        Y_shape = Y.shape
        Y = self.group_norm(Y.reshape(-1, Y.shape[-1])).reshape(Y_shape)
        return (self.swish(X @ self.W_G) * Y) @ self.W_O


def get_inputs():
    return [torch.randn(2, SEQ_LEN, HIDDEN_SIZE)]


def get_init_inputs():
    return [HIDDEN_SIZE, N_HEADS]
