import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Shannon entropy (in nats) of the distribution given by the logits."""

    def __init__(self):
        super().__init__()

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        logp = F.log_softmax(logits, dim=-1)
        return -(logp.exp() * logp).sum(dim=-1)


num_rows = 1900
num_classes = 333


def get_inputs():
    return [torch.randn(num_rows, num_classes)]


def get_init_inputs():
    return []
