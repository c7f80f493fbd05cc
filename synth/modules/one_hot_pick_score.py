# one hot pick score
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.num_classes = num_classes

    def forward(self, scores, labels):
        onehot = F.one_hot(labels, self.num_classes).to(scores.dtype)
        return (scores * onehot).sum(dim=-1)

def get_init_inputs():
    return [88]

def get_inputs():
    return [torch.randn(8100, 88), torch.randint(0, 88, (8100,))]
