# fmod sign
import torch
from torch import nn


class Model(nn.Module):
	def __init__(self):
		super(Model, self).__init__()

	def forward(self, x, modulus):
		r = torch.fmod(x, modulus)
		return torch.sign(x) * r + torch.trunc(x)


LENGTH = 700_001


def get_init_inputs(): return []


def get_inputs(): return [torch.randn(LENGTH) * 5, 1.5]
