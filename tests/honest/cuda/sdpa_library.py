"""The library operator itself on contiguous inputs: accepted, and labelled as what it is."""
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q.contiguous(), k.contiguous(), v.contiguous())
