import torch
from torch import nn

VOXELS = (30, 34, 38)


class Model(nn.Module):
    """A coarse voxel is occupied when any fine voxel in it is."""

    def __init__(self, coarse, hop, margin, level):
        super().__init__()
        self.coarsen = nn.MaxPool3d(coarse, hop, margin)
        self.level = level

    def forward(self, grid):
        occupied = self.coarsen(grid) > self.level
        return occupied.float()


def get_inputs():
    return [torch.rand(3, 6, *VOXELS)]


def get_init_inputs():
    return [3, 2, 1, 0.97]
