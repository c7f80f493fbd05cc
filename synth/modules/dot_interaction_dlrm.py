import torch
import torch.nn as nn


class Model(nn.Module):
  """Pairwise dot products between feature vectors, lower triangle only, next to the dense vector."""

  def __init__(self, num_vectors: int, dim: int, out: int):
    super().__init__()
    li, lj = torch.tril_indices(num_vectors, num_vectors, offset=-1)
    self.register_buffer("li", li)
    self.register_buffer("lj", lj)
    self.top = nn.Linear(dim + li.numel(), out)

  def forward(self, dense, sparse):
    t = torch.cat([dense.unsqueeze(1), sparse], dim=1)  # B, F, D
    z = torch.bmm(t, t.transpose(1, 2))
    flat = z[:, self.li, self.lj]
    return torch.relu(self.top(torch.cat([dense, flat], dim=1)))


B, F, D = 1900, 9, 48


def get_inputs():
  return [torch.randn(B, D), torch.randn(B, F - 1, D)]


def get_init_inputs():
  return [F, D, 100]
