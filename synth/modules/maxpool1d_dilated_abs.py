import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """Envelope of a waveform: sliding maximum of its magnitude."""

    def __init__(self, width, hop, pad, dilation):
        super(Model, self).__init__()
        self.width = width
        self.hop = hop
        self.pad = pad
        self.dilation = dilation

    def forward(self, wav):
        return F.max_pool1d(wav.abs(), kernel_size=self.width, stride=self.hop, padding=self.pad, dilation=self.dilation)

def get_inputs():
    return [torch.randn(14, 2, 22050)]

def get_init_inputs():
    return [9, 4, 4, 3]
