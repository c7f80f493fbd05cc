import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Heads of a centre-point detector; the heat map keeps only its local maxima."""

    def __init__(self, channels, head_conv, heads):
        super().__init__()
        self.heads = nn.ModuleDict({
            name: nn.Sequential(nn.Conv2d(channels, head_conv, 3, padding=1), nn.ReLU(), nn.Conv2d(head_conv, n, 1))
            for name, n in heads.items()
        })

    def forward(self, x):
        out = {name: head(x) for name, head in self.heads.items()}
        hm = out["hm"].sigmoid().clamp(1e-4, 1 - 1e-4)
        hmax = F.max_pool2d(hm, 3, stride=1, padding=1)
        out["hm"] = hm * (hmax == hm).float()
        return out


def get_inputs():
    return [torch.randn(2, 48, 64, 64)]


def get_init_inputs():
    return [48, 48, {"hm": 12, "wh": 2}]
