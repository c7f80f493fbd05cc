import torch
import torch.nn as nn

CHANNELS = 40
SIDE = 22
DROP_PATH = 0.2


def drop_path(x, drop_prob: float = 0., training: bool = False, scale_by_keep: bool = True):
    if drop_prob == 0. or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    if keep_prob > 0.0 and scale_by_keep:
        random_tensor.div_(keep_prob)
    return x * random_tensor


class DropPath(nn.Module):
    def __init__(self, drop_prob=None):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return drop_path(x, self.drop_prob, False)  # this release is for inference only


class Block(nn.Module):
    def __init__(self, c, path):
        super().__init__()
        self.dw = nn.Conv2d(c, c, 5, padding=2, groups=c, padding_mode="reflect")
        self.pw = nn.Conv2d(c, c, 1)
        self.bn = nn.BatchNorm2d(c)
        self.path = DropPath(path)

    def forward(self, x):
        return x + self.path(self.bn(self.pw(nn.functional.mish(self.dw(x)))))


class Model(nn.Module):
    def __init__(self, c, rate, depth=3):
        super().__init__()
        rates = [r.item() for r in torch.linspace(0, rate, depth)]
        self.blocks = nn.Sequential(*(Block(c, r) for r in rates))

    def forward(self, x):
        return self.blocks(x).contiguous(memory_format=torch.channels_last).mean(dim=(-2, -1))


def get_inputs():
    return [torch.randn(2, CHANNELS, SIDE, SIDE).to(memory_format=torch.channels_last)]


def get_init_inputs():
    return [CHANNELS, DROP_PATH]
