"""Looks like work after forward: two pool threads do half each and are waited for."""
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn

pool = ThreadPoolExecutor(2)


class ModelNew(nn.Module):
    def forward(self, value, gate):
        out = torch.empty_like(value)
        middle = value.shape[0] // 2

        def part(rows):
            torch.sigmoid(gate[rows], out=out[rows])
            out[rows].mul_(gate[rows]).mul_(value[rows])

        list(pool.map(part, (slice(0, middle), slice(middle, None))))
        return out
