import torch
import torch.nn as nn


class Model(nn.Module):
	"""Cross layer: x0 * (x w) + b + x, with w a single column."""

	def __init__(self, dim: int):
		super().__init__()
		self.w = nn.Parameter(torch.randn(dim, 1) / dim ** 0.5)
		self.b = nn.Parameter(torch.zeros(dim))

	def forward(self, x0: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
		xw = torch.matmul(x, self.w)
		return x0 * xw + self.b + x


def get_inputs():
	return [torch.randn(1500, 350), torch.randn(1500, 350)]


def get_init_inputs():
	return [350]
