import torch
from torch import nn, Tensor


class PreAct(nn.Module):
    def __init__(self, ch: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(ch), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1, bias=False),
            nn.BatchNorm2d(ch), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


class Model(nn.Module):
    """
    Board game tower: a stem and `depth` pre-activation residual blocks,
    one policy plane per move direction.
    """

    def __init__(self, in_planes: int, channels: int, depth: int, moves: int):
        super().__init__()
        self.stem = nn.Conv2d(in_planes, channels, 3, padding=1)
        self.tower = nn.Sequential(*[PreAct(channels) for _ in range(depth)])
        self.policy = nn.Conv2d(channels, moves, kernel_size=1)

    def forward(self, board: Tensor) -> Tensor:
        return self.policy(self.tower(self.stem(board))).flatten(start_dim=1)


def get_inputs():
    return [torch.rand(48, 17, 19, 19)]


def get_init_inputs():
    return [17, 72, 3, 5]
