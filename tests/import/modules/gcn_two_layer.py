import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

NODES: int = 700
FEATURES: int = 48
HIDDEN: int = 32
CLASSES: int = 5


def normalise(adjacency: Tensor) -> Tensor:
    """Symmetric normalisation D^-1/2 (A + I) D^-1/2."""
    a = adjacency + torch.eye(adjacency.size(0), dtype=adjacency.dtype, device=adjacency.device)
    degree = a.sum(dim=1)
    inv_sqrt = degree.pow(-0.5)
    inv_sqrt = torch.where(torch.isinf(inv_sqrt), torch.zeros_like(inv_sqrt), inv_sqrt)
    return inv_sqrt.view(-1, 1) * a * inv_sqrt.view(1, -1)


class GraphConvolution(nn.Module):
    def __init__(self, fan_in: int, fan_out: int, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fan_in, fan_out))
        if bias:
            self.bias = nn.Parameter(torch.zeros(fan_out))
        else:
            self.register_parameter("bias", None)
        nn.init.xavier_uniform_(self.weight)

    def forward(self, nodes: Tensor, propagation: Tensor) -> Tensor:
        out = propagation.mm(nodes.mm(self.weight))
        return out if self.bias is None else out + self.bias


class Model(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int):
        super().__init__()
        self.gc1 = GraphConvolution(features, hidden)
        self.gc2 = GraphConvolution(hidden, classes, bias=False)

    def forward(self, nodes: Tensor, adjacency: Tensor) -> Tensor:
        p = normalise(adjacency)
        return F.log_softmax(self.gc2(self.gc1(nodes, p).relu(), p), dim=-1)


def get_inputs():
    upper = torch.triu((torch.rand(NODES, NODES) < 0.05).float(), diagonal=1)
    return [torch.rand(NODES, FEATURES), upper + upper.T]


def get_init_inputs():
    return [FEATURES, HIDDEN, CLASSES]
