import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Patch critic: strided convolutions with leaky rectifiers; hinge losses for real and fake maps."""

    def __init__(self, channels, widths):
        super().__init__()
        layers = []
        prev = channels
        for w in widths:
            layers += [nn.Conv2d(prev, w, 4, stride=2, padding=1), nn.LeakyReLU(0.2)]
            prev = w
        self.net = nn.Sequential(*layers, nn.Conv2d(prev, 1, 3, padding=1))

    def forward(self, real, fake):
        r, f = self.net(real), self.net(fake)
        loss_r = F.relu(1.0 - r).mean(dim=(1, 2, 3))
        loss_f = F.relu(1.0 + f).mean(dim=(1, 2, 3))
        return {"real": loss_r, "fake": loss_f, "gen": -f.mean(dim=(1, 2, 3))}


def get_inputs():
    return [torch.rand(5, 3, 76, 76), torch.rand(5, 3, 76, 76)]


def get_init_inputs():
    return [3, [18, 36]]
