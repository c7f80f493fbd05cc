import torch
import torch.nn as nn
import torch.nn.functional as F


class GLUConv(nn.Module):
    """Causal convolution with a gated linear unit"""

    def __init__(self, c, k):
        super().__init__()
        self.k = k
        self.conv = nn.Conv1d(c, 2 * c, k)

    def forward(self, x):
        y = F.pad(x, (self.k - 1, 0))
        return x + F.glu(self.conv(y), dim=1)


class Model(nn.Module):
    def __init__(self, vocab, dim, kernel, n_layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(GLUConv(dim, kernel) for _ in range(n_layers))
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.embed.weight  # tied

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        for l in self.layers:
            x = l(x)
        return self.lm_head(x.transpose(1, 2))


def get_inputs():
    return [torch.randint(0, 380, (500, 100))]


def get_init_inputs():
    return [380, 64, 4, 3]
