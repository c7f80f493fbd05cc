import torch
import torch.nn as nn


class Model(nn.Module):
	def __init__(self):
		super().__init__()

	def forward(self, prediction, target):
		error = prediction - target
		return error.pow(2).sum() / error.numel()


def get_inputs():
	return [torch.randn(730, 1024), torch.randn(730, 1024)]


def get_init_inputs():
	return []
