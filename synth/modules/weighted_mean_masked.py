import torch
import torch.nn as nn


class Model(nn.Module):
    """Average over the time axis that ignores padding.

    The mask is boolean and True where a frame is real. The count is kept
    at one or more, so an empty sequence gives zeros.
    """

    def __init__(self):
        super().__init__()

    def forward(self, frames: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        keep = mask.unsqueeze(-1).to(frames.dtype)
        total = (frames * keep).sum(dim=1)
        count = keep.sum(dim=1).clamp(min=1.0)
        return total / count


B, T, D = 22, 130, 256


def get_inputs(): return [torch.randn(B, T, D), torch.rand(B, T) > 0.3]


def get_init_inputs(): return []
