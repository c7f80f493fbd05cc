import torch
import torch.nn as nn

dtype = torch.bfloat16


class Model(nn.Module):
    def __init__(self, hidden, n_labels):
        super().__init__()
        kw = dict(dtype=dtype)
        self.dense = nn.Linear(hidden, hidden, **kw)
        self.norm = nn.LayerNorm(hidden, eps=1e-5, **kw)
        self.decoder = nn.Linear(hidden, n_labels, **kw)

    def forward(self, features, attention_mask):
        # mean over the valid tokens
        m = attention_mask.unsqueeze(-1).to(features.dtype)
        pooled = (features * m).sum(1) / m.sum(1)
        x = self.norm(torch.tanh(self.dense(pooled)))
        return self.decoder(x)


def get_inputs():
    mask = torch.ones(24, 128, dtype=torch.bool)
    mask[::2, 90:] = False
    return [torch.randn(24, 128, 312, dtype=dtype), mask]


def get_init_inputs():
    return [312, 70]
