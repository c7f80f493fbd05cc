import torch
import torch.nn as nn


class Model(nn.Module):
    """Batch mixup with given permutation and lambda, linear probe, soft cross entropy."""

    def __init__(self, d, classes, smoothing):
        super().__init__()
        self.probe = nn.Linear(d, classes)
        self.on = 1.0 - smoothing + smoothing / classes
        self.off = smoothing / classes

    def forward(self, x, labels, perm, lam):
        lam = lam[:, None]
        mixed = lam * x + (1 - lam) * x[perm]
        logp = torch.log_softmax(self.probe(mixed), -1)
        t = torch.full_like(logp, self.off).scatter(1, labels[:, None], self.on)
        target = lam * t + (1 - lam) * t[perm]
        return -(target * logp).sum(-1).mean()


def get_inputs():
    return [torch.randn(1024, 256), torch.randint(0, 100, (1024,)), torch.randperm(1024), torch.rand(1024)]


def get_init_inputs():
    return [256, 100, 0.1]
