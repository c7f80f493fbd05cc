import torch
import torch.nn as nn


class Model(nn.Module):
    """word + position + segment embeddings, then layer norm (all in half precision)"""

    def __init__(self, vocab, positions, segments, width):
        super().__init__()
        make = lambda n: nn.Embedding(n, width, dtype=torch.float16)
        self.word, self.position, self.segment = make(vocab), make(positions), make(segments)
        self.norm = nn.LayerNorm(width, eps=1e-5, dtype=torch.float16)
        self.register_buffer("ids", torch.arange(positions).unsqueeze(0))

    def forward(self, tokens, segments):
        n = tokens.shape[1]
        e = self.word(tokens)
        e = e + self.segment(segments)
        e = e + self.position(self.ids[:, :n])
        return self.norm(e)


def get_inputs():
    return [torch.randint(0, 7000, (20, 230)), torch.randint(0, 2, (20, 230))]


def get_init_inputs():
    return [7000, 300, 2, 360]
