import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, margin: float = 0.0, reduction: str = "mean"):
        super(Model, self).__init__()
        self.ranking = nn.MarginRankingLoss(margin=margin, reduction=reduction)

    def forward(self, first, second, order):
        return self.ranking(first, second, order)

def get_inputs():
    return [torch.randn(400000), torch.randn(400000), torch.randint(0, 2, (400000,)) * 2.0 - 1.0]

def get_init_inputs():
    return [0.3]
