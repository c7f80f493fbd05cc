import torch
import torch.nn as nn
import torch.nn.functional as F

vocab, ctx, n_embd, n_head = 500, 64, 96, 3


class FeedForward(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 4 * n), nn.ReLU(), nn.Linear(4 * n, n))

    def forward(self, x):
        return self.net(x)


class Model(nn.Module):
    """Token and position embedding, one residual feed-forward block, final norm, head tied to the embedding."""

    def __init__(self):
        super().__init__()
        self.token_embedding_table = nn.Embedding(vocab, n_embd)
        self.position_embedding_table = nn.Embedding(ctx, n_embd)
        self.ln1 = nn.LayerNorm(n_embd)
        self.ffwd = FeedForward(n_embd)
        self.ln_f = nn.LayerNorm(n_embd)

    def forward(self, idx):
        B, T = idx.shape
        x = self.token_embedding_table(idx) + self.position_embedding_table(torch.arange(T, device=idx.device))
        x = x + self.ffwd(self.ln1(x))
        return F.linear(self.ln_f(x), self.token_embedding_table.weight)


def get_inputs():
    return [torch.randint(0, vocab, (32, ctx))]


def get_init_inputs():
    return []
