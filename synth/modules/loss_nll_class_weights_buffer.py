import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, class_weights):
        super().__init__()
        self.register_buffer("class_weights", torch.tensor(class_weights))

    def forward(self, logits, y):
        return F.nll_loss(F.log_softmax(logits, -1), y, weight=self.class_weights)


def get_inputs():
    return [torch.randn(50000, 6), torch.randint(0, 6, (50000,))]


def get_init_inputs():
    return [[0.5, 1.0, 1.0, 2.0, 4.0, 0.25]]
