import torch
import torch.nn as nn


class Model(nn.Module):
    # three exits; each sample takes the first exit that is confident, decided with masks
    def __init__(self, dims, classes, threshold):
        super().__init__()
        self.exits = nn.ModuleList([nn.Linear(d, classes) for d in dims])
        self.threshold = threshold

    def forward(self, f0, f1, f2):
        probs = [head(f).softmax(-1) for head, f in zip(self.exits, (f0, f1, f2))]
        out = probs[-1]
        for p in reversed(probs[:-1]):
            confident = p.amax(-1, keepdim=True) > self.threshold
            out = torch.where(confident, p, out)
        return out


def get_inputs():
    return [torch.randn(2000, 64), torch.randn(2000, 128), torch.randn(2000, 256)]


def get_init_inputs():
    return [[64, 128, 256], 50, 0.08]
