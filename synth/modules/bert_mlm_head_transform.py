import torch
import torch.nn as nn


class Model(nn.Module):
    """Dense, GELU, LayerNorm and the decoder tied to the given embedding matrix, bias apart."""

    def __init__(self, hidden, vocab):
        super().__init__()
        self.dense = nn.Linear(hidden, hidden)
        self.transform_act_fn = nn.GELU()
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.bias = nn.Parameter(torch.randn(vocab) * 0.01)

    def forward(self, sequence_output, embedding_weight):
        h = self.LayerNorm(self.transform_act_fn(self.dense(sequence_output)))
        return nn.functional.linear(h, embedding_weight, self.bias)


def get_inputs():
    return [torch.randn(4, 128, 256), torch.randn(8000, 256) * 0.02]


def get_init_inputs():
    return [256, 8000]
