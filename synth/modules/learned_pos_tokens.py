import torch
import torch.nn as nn

vocab_size = 5000
block_size = 320
n_embd = 180


class Model(nn.Module):
    """Token and position embeddings with a learned class token in front, normalised."""

    def __init__(self, vocab, block, width):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(block + 1, width)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.ln = nn.LayerNorm(width)
        nn.init.normal_(self.cls, std=0.02)

    def forward(self, idx):
        b, t = idx.size()
        tok = self.wte(idx)
        tok = torch.cat([self.cls.expand(b, -1, -1), tok], dim=1)
        pos = torch.arange(t + 1, device=idx.device)
        return self.ln(tok + self.wpe(pos))


def get_inputs():
    return [torch.randint(0, vocab_size, (18, block_size))]


def get_init_inputs():
    return [vocab_size, block_size, n_embd]
