import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """Cori estimate: incidence over infectiousness, both summed in a trailing window."""
    def __init__(self, window, prior_shape, prior_scale):
        super().__init__()
        self.window = window
        self.a = prior_shape
        self.b = prior_scale
        w = torch.tensor([0.05, 0.2, 0.3, 0.2, 0.15, 0.1])
        self.register_buffer("w", w.flip(0).view(1, 1, -1))

    def forward(self, cases):
        past = F.conv1d(cases[:, None, :-1], self.w)
        today = cases[:, None, self.w.shape[-1]:]
        num = F.avg_pool1d(today, self.window, 1) * self.window
        den = F.avg_pool1d(past, self.window, 1) * self.window
        return ((self.a + num) / (1 / self.b + den)).squeeze(1)

def get_inputs():
    return [torch.rand(800, 730) * 100]

def get_init_inputs():
    return [7, 1.0, 5.0]
