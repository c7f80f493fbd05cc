from collections import OrderedDict
import torch


class Model(torch.nn.Module):
    """Bottleneck with a grouped 3x3 in the middle (1x1 - 3x3 - 1x1)."""

    expansion = 2

    def __init__(self, channels, width, groups):
        super(Model, self).__init__()
        self.body = torch.nn.Sequential(OrderedDict([
            ("reduce", torch.nn.Conv2d(channels, width, 1, bias=False)),
            ("norm0", torch.nn.BatchNorm2d(width)),
            ("act0", torch.nn.ReLU(inplace=True)),
            ("spatial", torch.nn.Conv2d(width, width, 3, padding=1, groups=groups, bias=False)),
            ("norm1", torch.nn.BatchNorm2d(width)),
            ("act1", torch.nn.ReLU(inplace=True)),
            ("expand", torch.nn.Conv2d(width, width * self.expansion, 1, bias=False)),
            ("norm2", torch.nn.BatchNorm2d(width * self.expansion)),
        ]))
        self.short = torch.nn.Sequential(OrderedDict([
            ("conv", torch.nn.Conv2d(channels, width * self.expansion, 1, bias=False)),
            ("norm", torch.nn.BatchNorm2d(width * self.expansion)),
        ]))
        self.eval()

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


batch = 4
image = 44


def get_inputs():
    return [torch.randn(batch, 72, image, image)]


def get_init_inputs():
    return [72, 64, 8]
