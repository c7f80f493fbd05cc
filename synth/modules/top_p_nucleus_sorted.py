import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    """Nucleus filter in sorted order: returns the kept probabilities and the sorted token ids."""

    def __init__(self, top_p: float = 0.9):
        super().__init__()
        self.top_p = top_p

    def forward(self, logits: torch.Tensor):
        sorted_logits, sorted_indices = torch.sort(logits, descending=True, dim=-1)
        probs = F.softmax(sorted_logits, dim=-1)
        cumulative_probs = probs.cumsum(dim=-1)
        # keep also the first token above the threshold
        remove = cumulative_probs - probs > self.top_p
        probs = probs.masked_fill(remove, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
        return probs, sorted_indices


def get_inputs():
    return [torch.randn(64, 4096) * 3]


def get_init_inputs():
    return [0.85]
