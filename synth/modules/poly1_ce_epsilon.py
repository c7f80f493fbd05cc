import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, num_classes, epsilon=1.0):
        super().__init__()
        self.num_classes, self.epsilon = num_classes, epsilon

    def forward(self, logits, labels):
        onehot = nn.functional.one_hot(labels, num_classes=self.num_classes).to(logits.dtype)
        pt = (onehot * logits.softmax(dim=-1)).sum(dim=-1)
        ce = nn.functional.cross_entropy(logits, labels, reduction='none')
        return (ce + self.epsilon * (1 - pt)).mean()


def get_inputs():
    return [torch.randn(4096, 365), torch.randint(365, (4096,))]


def get_init_inputs():
    return [365, 2.0]
