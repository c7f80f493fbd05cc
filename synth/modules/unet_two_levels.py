import torch
import torch.nn as nn


class DoubleConv(nn.Module):
    """(convolution => ReLU) * 2"""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.ReLU(),
        )

    def forward(self, x):
        return self.double_conv(x)


class Model(nn.Module):
    def __init__(self, n_channels, n_classes, base=16):
        super().__init__()
        widths = [base, base * 2, base * 4]
        self.pool = nn.MaxPool2d(2)
        self.down = nn.ModuleList()
        c = n_channels
        for w in widths:
            self.down.append(DoubleConv(c, w))
            c = w
        self.ups = nn.ModuleList()
        self.dec = nn.ModuleList()
        for w in reversed(widths[:-1]):
            self.ups.append(nn.ConvTranspose2d(2 * w, w, kernel_size=2, stride=2))
            self.dec.append(DoubleConv(2 * w, w))
        self.outc = nn.Conv2d(base, n_classes, kernel_size=1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x)
            if i < len(self.down) - 1:
                skips.append(x)
                x = self.pool(x)
        for up, dec, skip in zip(self.ups, self.dec, reversed(skips)):
            x = torch.cat([skip, up(x)], dim=1)
            x = dec(x)
        return self.outc(x)


def get_inputs():
    return [torch.randn(6, 3, 96, 72)]


def get_init_inputs():
    return [3, 4, 16]
