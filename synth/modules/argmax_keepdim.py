import torch
import torch.nn as nn

BATCH = 5000
CLASSES = 190

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, logits):
        return logits.argmax(dim=-1, keepdim=True)

def get_inputs(): return [torch.randn(BATCH, CLASSES)]

def get_init_inputs(): return []
