import torch
import torch.nn as nn

class Model(nn.Module):
    """Otsu's criterion for every threshold of many histograms, and the best threshold."""
    def __init__(self, levels=256):
        super().__init__()
        self.register_buffer("v", torch.arange(levels, dtype=torch.float32))

    def forward(self, hist):
        p = hist / hist.sum(-1, keepdim=True)
        w0 = torch.cumsum(p, -1)
        m = torch.cumsum(p * self.v, -1)
        mt = m[:, -1:]
        between = (mt * w0 - m).square() / (w0 * (1 - w0)).clamp(min=1e-6)
        return between.argmax(-1), between

def get_inputs():
    return [torch.rand(4000, 256) + 0.01]

def get_init_inputs():
    return []
