import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, J):
        super().__init__()
        self.J = J

    def forward(self, state):
        # state: int64 labels on a 2d lattice
        right = (state == state.roll(-1, 2))
        down = (state == state.roll(-1, 1))
        energy = -self.J * (right.float() + down.float())
        return energy.sum(dim=(1, 2)), (right & down).sum((1, 2))

def get_inputs():
    return [torch.randint(0, 5, (20, 300, 250))]

def get_init_inputs():
    return [1.0]
