import torch
import torch.nn as nn


class Model(nn.Module):
    """MLM head: dense, GELU, LayerNorm, dropout (p=0), decoder with its own bias."""

    def __init__(self, hidden_size, vocab_size, hidden_dropout_prob=0.0, layer_norm_eps=1e-12):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.LayerNorm = nn.LayerNorm(hidden_size, eps=layer_norm_eps)
        self.dropout = nn.Dropout(hidden_dropout_prob)
        self.decoder = nn.Linear(hidden_size, vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, sequence_output):
        h = nn.functional.gelu(self.dense(sequence_output))
        h = self.dropout(self.LayerNorm(h))
        return self.decoder(h) + self.bias


def get_inputs():
    return [torch.randn(4, 64, 256)]


def get_init_inputs():
    return [256, 2500]
