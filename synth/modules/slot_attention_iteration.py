import torch
import torch.nn as nn


class Model(nn.Module):
    """One iteration of slot attention: the softmax is over the slots, the mean over the inputs, then a GRU."""

    def __init__(self, dim, eps=1e-8):
        super().__init__()
        self.norm_in, self.norm_slots = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.to_q, self.to_k, self.to_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.gru = nn.GRUCell(dim, dim)
        self.eps = eps
        self.scale = dim ** -0.5

    def forward(self, inputs, slots):
        b, n, d = inputs.shape
        inputs = self.norm_in(inputs)
        k, v, q = self.to_k(inputs), self.to_v(inputs), self.to_q(self.norm_slots(slots))
        attn = (torch.einsum('bid,bjd->bij', q, k) * self.scale).softmax(dim=1) + self.eps
        attn = attn / attn.sum(dim=-1, keepdim=True)
        updates = torch.einsum('bjd,bij->bid', v, attn)
        return self.gru(updates.reshape(-1, d), slots.reshape(-1, d)).reshape(b, -1, d)


def get_inputs():
    return [torch.randn(8, 256, 64), torch.randn(8, 7, 64)]


def get_init_inputs():
    return [64]
