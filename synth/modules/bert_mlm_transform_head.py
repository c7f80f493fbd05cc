import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, hidden, vocab):
        super().__init__()
        self.dense = nn.Linear(hidden, hidden)
        self.layer_norm = nn.LayerNorm(hidden, eps=1e-5)
        self.decoder = nn.Linear(hidden, vocab, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab))

    def forward(self, features, positions):
        # only the masked positions are predicted
        index = positions.unsqueeze(-1).expand(-1, -1, features.size(-1))
        x = features.gather(1, index)
        x = self.layer_norm(F.gelu(self.dense(x)))
        return self.decoder(x) + self.bias


def get_inputs():
    return [torch.randn(16, 128, 192), torch.randint(0, 128, (16, 20))]


def get_init_inputs():
    return [192, 3000]
