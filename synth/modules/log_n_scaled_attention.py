import math
from typing import Optional

import torch
import torch.nn as nn
from torch import Tensor


class Model(nn.Module):
    """Queries beyond the training length are scaled by log_train(position)."""

    def __init__(self, train_len: int) -> None:
        super().__init__()
        self.train_len = train_len

    def forward(self, q: Tensor, k: Tensor, v: Tensor, bias: Optional[Tensor] = None) -> Tensor:
        pos = torch.arange(1, q.size(2) + 1, device=q.device, dtype=q.dtype)
        log_n = (pos.log() / math.log(self.train_len)).clamp(min=1.0)
        q = q * log_n.view(1, 1, -1, 1)
        scores: Tensor = torch.matmul(q, k.transpose(-1, -2)).div(math.sqrt(q.size(-1)))
        if bias is not None:
            scores = scores + bias
        return scores.softmax(dim=-1).matmul(v)


def get_inputs():
    return [torch.randn(2, 4, 350, 48), torch.randn(2, 4, 350, 48), torch.randn(2, 4, 350, 48), torch.randn(4, 350, 350)]


def get_init_inputs():
    return [128]
