import torch
import torch.nn as nn

CHUNK = 64


class Model(nn.Module):
    """Llama-4 chunked attention: causal inside chunks of fixed size; the block form by reshape."""

    def __init__(self, chunk=CHUNK):
        super().__init__()
        self.chunk = chunk
        self.register_buffer("causal", torch.ones(chunk, chunk).tril().bool())

    def forward(self, q, k, v):
        b, h, n, d = q.shape
        q, k, v = (t.reshape(b, h, n // self.chunk, self.chunk, d) for t in (q, k, v))
        s = torch.einsum("bhcid,bhcjd->bhcij", q, k) * d ** -0.5
        s = s.masked_fill(self.causal.logical_not(), -1e9)
        return torch.einsum("bhcij,bhcjd->bhcid", s.softmax(-1), v).reshape(b, h, n, d)


def get_inputs():
    return [torch.randn(2, 8, 512, 40), torch.randn(2, 8, 512, 40), torch.randn(2, 8, 512, 40)]


def get_init_inputs():
    return []
