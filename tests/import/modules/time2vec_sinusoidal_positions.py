import math
import torch
from torch import nn, Tensor

D_MODEL = 64
MAX_LEN = 500
SEQ, BATCH = 200, 16


class PositionalEncoding(nn.Module):

    def __init__(self, d_model: int, dropout: float = 0.0, max_len: int = 5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer('pe', pe)

    def forward(self, x: Tensor) -> Tensor:
        """
        Arguments:
            x: Tensor, shape ``[seq_len, batch_size, embedding_dim]``
        """
        x = x + self.pe[:x.size(0)]
        return self.dropout(x)


class Time2Vec(nn.Module):
    def __init__(self, k: int, activation=torch.sin):
        super().__init__()
        self.w0 = nn.Parameter(torch.randn(1, 1)); self.b0 = nn.Parameter(torch.randn(1))
        self.w = nn.Parameter(torch.randn(1, k - 1)); self.b = nn.Parameter(torch.randn(k - 1))
        self.f = activation

    def forward(self, tau: Tensor) -> Tensor:
        v1 = self.f(torch.matmul(tau, self.w) + self.b)
        v2 = torch.matmul(tau, self.w0) + self.b0
        return torch.cat([v1, v2], -1)


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.pos, self.t2v = PositionalEncoding(d, max_len=MAX_LEN), Time2Vec(d)

    def forward(self, x: Tensor, timestamps: Tensor) -> Tensor:
        return self.pos(x) + self.t2v(timestamps.unsqueeze(-1))


def get_inputs():
    return [torch.randn(SEQ, BATCH, D_MODEL), torch.rand(SEQ, BATCH).cumsum(0)]


def get_init_inputs():
    return [D_MODEL]
