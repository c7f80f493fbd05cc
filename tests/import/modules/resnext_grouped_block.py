import torch, torch.nn as nn, torch.nn.functional as F

WIDTH = 64
CARDINALITY = 8

class Block(nn.Module):
    """Aggregated residual transformation, written as an explicit sum over paths."""
    def __init__(self, in_c, cardinality, d):
        super().__init__()
        self.paths = nn.ModuleList()
        for _ in range(cardinality):
            self.paths.append(nn.Sequential(
                nn.Conv2d(in_c, d, 1, bias=False), nn.BatchNorm2d(d), nn.ReLU(True),
                nn.Conv2d(d, d, 3, 1, 1, bias=False), nn.BatchNorm2d(d), nn.ReLU(True),
                nn.Conv2d(d, in_c, 1, bias=False)))
        self.bn = nn.BatchNorm2d(in_c)

    def forward(self, x):
        y = sum(p(x) for p in self.paths)
        return F.relu(x + self.bn(y), inplace=True)

Model = type("Model", (Block,), {})

def get_inputs(): return [torch.randn(2, WIDTH, 20, 20)]
def get_init_inputs(): return [WIDTH, CARDINALITY, 4]
