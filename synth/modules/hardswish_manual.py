import torch


class Model(torch.nn.Module):
    def __init__(self, shift: float = 3.0, ceiling: float = 6.0):
        super().__init__()
        self.shift = shift
        self.ceiling = ceiling

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = (x + self.shift).clamp(min=0.0, max=self.ceiling) / self.ceiling
        return x.mul(gate)

    def extra_repr(self) -> str:
        return f"shift={self.shift}, ceiling={self.ceiling}"


batch, channels, height, width = 8, 24, 60, 60


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [3.0, 6.0]
