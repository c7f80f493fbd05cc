import torch
import torch.nn as nn


class Model(nn.Module):
    """Checkerboard Metropolis sweep of one colour; uniform noise is an input."""

    def __init__(self, height: int, width: int, temperature: float):
        super().__init__()
        self.beta = 1.0 / temperature
        rows = torch.arange(height).view(-1, 1)
        cols = torch.arange(width).view(1, -1)
        self.register_buffer("black", (rows + cols) % 2 == 0)

    def forward(self, spins: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
        neighbours = (
            spins.roll(1, dims=-2)
            + spins.roll(-1, dims=-2)
            + spins.roll(1, dims=-1)
            + spins.roll(-1, dims=-1)
        )
        delta_e = 2.0 * spins * neighbours
        accept = (uniform < torch.exp(-self.beta * delta_e)) & self.black
        return torch.where(accept, -spins, spins)


def get_inputs():
    s = torch.randint(0, 2, (12, 256, 256)).float() * 2 - 1
    return [s, torch.rand(12, 256, 256)]


def get_init_inputs():
    return [256, 256, 2.27]
