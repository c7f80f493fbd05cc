import torch
import torch.nn as nn


class Model(nn.Module):
    """Compressed interaction network: outer products along the embedding axis and a 1x1 Conv1d, twice."""

    def __init__(self, field_num, maps):
        super().__init__()
        self.conv_1 = nn.Conv1d(field_num * field_num, maps, 1)
        self.conv_2 = nn.Conv1d(field_num * maps, maps, 1)

    def forward(self, inputs):
        b, _, d = inputs.shape
        # level 1
        z = torch.einsum("bhd,bmd->bhmd", inputs, inputs).reshape(b, -1, d)
        h1 = self.conv_1(z).relu()
        # level 2
        z = torch.einsum("bhd,bmd->bhmd", h1, inputs).reshape(b, -1, d)
        h2 = self.conv_2(z).relu()
        return torch.sum(torch.cat([h1, h2], dim=1), -1)


def get_inputs():
    return [torch.randn(512, 18, 16)]


def get_init_inputs():
    return [18, 40]
