"""Nothing but the vendor library's product: accepted, and labelled as what it is."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.mm(a, b)
