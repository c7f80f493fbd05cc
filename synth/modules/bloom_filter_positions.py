import torch
import torch.nn as nn


class Model(nn.Module):
    """Double hashing: k slots of a filter for each key, looked up in a bit table."""

    def __init__(self, slots, k):
        super().__init__()
        self.slots = slots
        self.register_buffer("i", torch.arange(k))
        self.register_buffer("bits", (torch.arange(slots) * 7 % 5) < 3)

    def forward(self, keys):
        h1 = (keys * 2654435761) & 0x7FFFFFFF
        h2 = ((keys ^ (keys >> 13)) * 40503 + 1) & 0x7FFFFFFF
        where = (h1[:, None] + self.i * h2[:, None]) % self.slots
        return where, self.bits[where].all(dim=1)


def get_inputs():
    return [torch.randint(0, 1 << 24, (150000,))]


def get_init_inputs():
    return [4093, 4]
