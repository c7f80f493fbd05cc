import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
  def __init__(self, ignore_index: int = -100):
    super().__init__()
    self.ignore_index = ignore_index

  def forward(self, logits, labels):
    # (B, T, V) -> (B*T, V)
    flat = logits.reshape(-1, logits.size(-1))
    return F.cross_entropy(flat, labels.reshape(-1), ignore_index=self.ignore_index, reduction="sum")


B, T, V = 4, 90, 2050


def get_inputs():
  return [torch.randn(B, T, V), torch.randint(0, V, (B, T))]


def get_init_inputs():
  return [0]
