import torch
import torch.nn as nn
from torch.nn import functional as F


class Model(nn.Module):
    """Symmetric contrastive loss of two towers with a learned temperature."""

    def __init__(self, image_dim, text_dim, shared):
        super().__init__()
        self.img = nn.Linear(image_dim, shared, bias=False)
        self.txt = nn.Linear(text_dim, shared, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(-3.0))
        self.norm = nn.LayerNorm(shared, elementwise_affine=False)

    def forward(self, image_features, text_features):
        a = self.norm(self.img(image_features))
        b = self.norm(self.txt(text_features))
        logits = self.logit_scale.exp() * a @ b.t()
        labels = torch.arange(logits.size(0), device=logits.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


def get_inputs():
    return [torch.randn(740, 420), torch.randn(740, 310)]


def get_init_inputs():
    return [420, 310, 160]
