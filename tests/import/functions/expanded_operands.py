"""Operands that are expanded to the shape of others, or of each other, and sums of what is expanded."""
import torch
import torch.nn as nn

HEIGHT, WIDTH = 6, 7


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(3, 1, 1))

    def forward(self, image, rows, columns):
        mean = image.mean(dim=(2, 3), keepdim=True)
        centred = image - mean.expand(image.size())
        scaled = centred * self.scale.expand_as(image)
        grid = rows.unsqueeze(-1).expand(-1, -1, WIDTH) * columns.unsqueeze(1).expand(-1, HEIGHT, -1)
        both = torch.sigmoid(rows[:, :, None].expand(2, HEIGHT, WIDTH))  # nothing else has the whole shape
        return torch.tanh(scaled) + grid[:, None], both, both.sum(-1), rows[:, :, None].expand(2, HEIGHT, WIDTH).amax(1)


def get_inputs():
    return [torch.randn(2, 3, HEIGHT, WIDTH), torch.randn(2, HEIGHT), torch.randn(2, WIDTH)]


def get_init_inputs():
    return []
