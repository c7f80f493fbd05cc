import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
  # Gated linear unit with a named activation: out(act(gate(x)) * value(x))
  def __init__(self, d_in, d_ff, d_out=None, act="softplus", bias=True):
    super().__init__()
    d_out = d_out or d_in
    self.gate = nn.Linear(d_in, d_ff, bias=bias)
    self.value = nn.Linear(d_in, d_ff, bias=bias)
    self.out = nn.Linear(d_ff, d_out, bias=bias)
    self.act = getattr(F, act)

  def forward(self, inputs):
    return self.out(self.act(self.gate(inputs)) * self.value(inputs))


bs, seq, d = 7, 130, 256


def get_inputs():
  return [torch.rand(bs, seq, d)]


def get_init_inputs():
  return [d, 600, 128, "selu"]
