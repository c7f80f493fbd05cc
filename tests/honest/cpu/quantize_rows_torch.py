"""Multiplies by the inverse scale: where a value lies between two integers, rounding may go the other way."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        scale = x.abs().amax(-1, keepdim=True).clamp_(min=1e-8).mul_(1.0 / 127.0)
        return (x * scale.reciprocal()).round_().clamp_(-127, 127).to(torch.int8), scale
