import torch
import torch.nn as nn
import torch.nn.functional as F

W_BIFPN = 32
SIZES = (32, 16, 8)


class SeparableConvBlock(nn.Module):
    def __init__(self, in_channels, out_channels=None, norm=True, activation=False):
        super().__init__()
        if out_channels is None:
            out_channels = in_channels
        self.depthwise_conv = nn.Conv2d(in_channels, in_channels, 3, padding='same', groups=in_channels, bias=False)
        self.pointwise_conv = nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=1)
        self.norm = norm
        if self.norm:
            self.bn = nn.BatchNorm2d(num_features=out_channels, momentum=0.01, eps=1e-3)
        self.activation = activation
        if self.activation:
            self.swish = nn.SiLU()

    def forward(self, x):
        x = self.depthwise_conv(x)
        x = self.pointwise_conv(x)
        if self.norm:
            x = self.bn(x)
        if self.activation:
            x = self.swish(x)
        return x


class Model(nn.Module):
    """
    P5 ------------------------> P5'
      \\                          ^
    P4 ---> P4_td --------------> P4'
               \\                 ^
    P3 -----------------> P3' ----|
    """

    def __init__(self, num_channels, epsilon=1e-4):
        super().__init__()
        self.epsilon = epsilon
        self.conv4_up = SeparableConvBlock(num_channels)
        self.conv3_up = SeparableConvBlock(num_channels)
        self.conv4_down = SeparableConvBlock(num_channels)
        self.conv5_down = SeparableConvBlock(num_channels, activation=True)
        self.p4_w1 = nn.Parameter(torch.ones(2, dtype=torch.float32))
        self.p3_w1 = nn.Parameter(torch.ones(2, dtype=torch.float32))
        self.p4_w2 = nn.Parameter(torch.ones(3, dtype=torch.float32))
        self.p5_w2 = nn.Parameter(torch.tensor([0.7, 1.3]))

    def fuse(self, w, *maps):
        w = F.relu(w)
        w = w / (torch.sum(w, dim=0) + self.epsilon)
        total = w[0] * maps[0]
        for i in range(1, len(maps)):
            total = total + w[i] * maps[i]
        return F.silu(total)

    def forward(self, inputs):
        p3, p4, p5 = inputs
        up = lambda t: F.interpolate(t, scale_factor=2, mode='nearest')
        down = lambda t: F.max_pool2d(t, 3, 2, padding=1)
        p4_up = self.conv4_up(self.fuse(self.p4_w1, p4, up(p5)))
        p3_out = self.conv3_up(self.fuse(self.p3_w1, p3, up(p4_up)))
        p4_out = self.conv4_down(self.fuse(self.p4_w2, p4, p4_up, down(p3_out)))
        p5_out = self.conv5_down(self.fuse(self.p5_w2, p5, down(p4_out)))
        return p3_out, p4_out, p5_out


def get_inputs():
    return [[torch.randn(1, W_BIFPN, s, s) for s in SIZES]]


def get_init_inputs():
    return [W_BIFPN]
