import torch
import torch.nn as nn


class Model(nn.Module):
    """Branches registered with add_module, outputs concatenated along channels."""

    def __init__(self, in_planes, planes, kernels):
        super().__init__()
        self.names = []
        for k in kernels:
            name = "branch_k%d" % k
            self.add_module(name, nn.Conv1d(in_planes, planes, k, padding=k // 2))
            self.names.append(name)
        self.bn = nn.BatchNorm1d(planes * len(kernels))

    def forward(self, x):
        outs = [self._modules[n](x) for n in self.names]
        return self.bn(torch.cat(outs, dim=1)).relu()


def get_inputs():
    return [torch.randn(10, 16, 1200)]


def get_init_inputs():
    return [16, 12, [1, 3, 9]]
