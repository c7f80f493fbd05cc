# accuracy from logits
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, logits, labels):
        correct = logits.argmax(dim=1).eq(labels)
        return correct.float().mean()

def get_inputs():
    return [torch.randn(6000, 70), torch.randint(0, 70, (6000,))]

def get_init_inputs():
    return []
