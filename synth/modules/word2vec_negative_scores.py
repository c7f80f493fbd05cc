import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.in_embed = nn.Embedding(vocab_size, dim)
        self.out_embed = nn.Embedding(vocab_size, dim)

    def forward(self, center, context, negatives):
        v = self.in_embed(center)
        u = self.out_embed(context)
        n = self.out_embed(negatives)
        pos = F.logsigmoid((u * v).sum(1))
        neg = F.logsigmoid(-torch.bmm(n, v.unsqueeze(2)).squeeze(2)).sum(1)
        return -(pos + neg).mean()


def get_inputs():
    V, B = 8000, 4096
    return [torch.randint(0, V, (B,)), torch.randint(0, V, (B,)), torch.randint(0, V, (B, 5))]


def get_init_inputs():
    return [8000, 128]
