import math
import torch
import torch.nn as nn


def get_slopes(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return [start * start**i for i in range(n)]


class Model(nn.Module):
    """Bloom-like: the ALiBi bias is made from the attention mask, then added with beta / inv_norm."""

    def __init__(self, n_head, head_dim):
        super().__init__()
        self.n_head = n_head
        self.inv_norm_factor = 1.0 / math.sqrt(head_dim)
        self.register_buffer("slopes", torch.tensor(get_slopes(n_head)))

    def forward(self, q, k, attention_mask):
        arange = ((attention_mask.cumsum(dim=-1) - 1) * attention_mask)[:, None, :]
        alibi = self.slopes[..., None] * arange
        alibi = alibi.reshape(-1, 1, attention_mask.size(1))
        scores = torch.baddbmm(alibi, q, k.transpose(1, 2), beta=1.0, alpha=self.inv_norm_factor)
        return torch.softmax(scores, -1)


def get_inputs():
    mask = torch.ones(4, 224, dtype=torch.long)
    mask[1, :30] = 0
    mask[3, :77] = 0
    return [torch.randn(4 * 8, 224, 40), torch.randn(4 * 8, 224, 40), mask]


def get_init_inputs():
    return [8, 40]
