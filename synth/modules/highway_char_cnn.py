import torch
import torch.nn as nn


class Highway(nn.Module):
    def __init__(self, size, num_layers=2):
        super().__init__()
        self.nonlinear = nn.ModuleList([nn.Linear(size, size) for _ in range(num_layers)])
        self.gate = nn.ModuleList([nn.Linear(size, size) for _ in range(num_layers)])
        for g in self.gate:
            nn.init.constant_(g.bias, -2.0)

    def forward(self, x):
        for h, g in zip(self.nonlinear, self.gate):
            t = torch.sigmoid(g(x))
            x = t * torch.relu(h(x)) + (1.0 - t) * x
        return x


class Model(nn.Module):
    """Character CNN word embedder with highway layers."""

    def __init__(self, n_chars, char_dim, filters):
        super().__init__()
        self.char_embed = nn.Embedding(n_chars, char_dim)
        self.convs = nn.ModuleList([nn.Conv1d(char_dim, n, kernel_size=w) for w, n in filters])
        self.highway = Highway(sum(n for _, n in filters))

    def forward(self, chars):
        x = self.char_embed(chars).transpose(1, 2)
        feats = [torch.relu(c(x)).amax(dim=2) for c in self.convs]
        return self.highway(torch.cat(feats, dim=1))


def get_inputs():
    return [torch.randint(0, 96, (3000, 20))]


def get_init_inputs():
    return [96, 15, [[2, 30], [3, 50], [5, 60]]]
