import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, vocab_size, embedding_size, hidden_size):
        super().__init__()
        self.word = nn.Embedding(vocab_size, embedding_size)
        self.ln = nn.LayerNorm(embedding_size)
        self.mapping = nn.Linear(embedding_size, hidden_size)

    def forward(self, ids, pos):
        e = self.ln(self.word(ids) + pos)
        return self.mapping(e)

def get_inputs():
    return [torch.randint(30000, (8, 256)), torch.randn(256, 128)]

def get_init_inputs():
    return [30000, 128, 512]
