import torch
import torch.nn as nn
import torch.nn.functional as F


class GLUBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, 2 * o, bias=False)
        self.bn = nn.BatchNorm1d(2 * o, momentum=0.02)

    def forward(self, x):
        return F.glu(self.bn(self.fc(x)))


class Model(nn.Module):
    """Feature transformer of TabNet: two GLU blocks, the second with a scaled residual; the prior masks the input."""

    def __init__(self, d, h):
        super().__init__()
        self.g1, self.g2 = GLUBlock(d, h), GLUBlock(h, h)

    def forward(self, x, mask):
        h = self.g1(x * mask)
        h = (h + self.g2(h)) * 0.5 ** 0.5
        decision, attention = h.split(h.size(1) // 2, dim=1)
        return torch.relu(decision), attention


def get_inputs():
    return [torch.randn(4096, 54), torch.rand(4096, 54)]


def get_init_inputs():
    return [54, 64]
