# CBAM: channel attention first, spatial attention second.
import torch as th
import torch.nn as nn
import torch.nn.functional as F

BS, CH, SIDE = 4, 64, 28


class Flatten(nn.Module):
    def forward(self, x):
        return x.view(x.size(0), -1)


class ChannelGate(nn.Module):
    def __init__(self, gate_channels, reduction_ratio=8, pool_types=['avg', 'max', 'lse']):
        super().__init__()
        self.gate_channels = gate_channels
        self.mlp = nn.Sequential(
            Flatten(),
            nn.Linear(gate_channels, gate_channels // reduction_ratio),
            nn.ReLU(),
            nn.Linear(gate_channels // reduction_ratio, gate_channels))
        self.pool_types = pool_types

    def forward(self, x):
        channel_att_sum = None
        for pool_type in self.pool_types:
            if pool_type == 'avg':
                p = F.avg_pool2d(x, (x.size(2), x.size(3)), stride=(x.size(2), x.size(3)))
                raw = self.mlp(p)
            elif pool_type == 'max':
                p = F.max_pool2d(x, (x.size(2), x.size(3)), stride=(x.size(2), x.size(3)))
                raw = self.mlp(p)
            elif pool_type == 'lse':
                raw = self.mlp(logsumexp_2d(x))
            if channel_att_sum is None:
                channel_att_sum = raw
            else:
                channel_att_sum = channel_att_sum + raw
        scale = th.sigmoid(channel_att_sum).unsqueeze(2).unsqueeze(3).expand_as(x)
        return x * scale


def logsumexp_2d(tensor):
    flat = tensor.view(tensor.size(0), tensor.size(1), -1)
    s, _ = th.max(flat, dim=2, keepdim=True)
    return s + (flat - s).exp().sum(dim=2, keepdim=True).log()


class SpatialGate(nn.Module):
    def __init__(self):
        super().__init__()
        k = 7
        self.spatial = nn.Conv2d(2, 1, k, padding=(k - 1) // 2, bias=False)
        self.bn = nn.BatchNorm2d(1, eps=1e-5, momentum=0.01)

    def forward(self, x):
        compressed = th.cat((th.max(x, 1)[0].unsqueeze(1), th.mean(x, 1).unsqueeze(1)), dim=1)
        return x * th.sigmoid(self.bn(self.spatial(compressed)))


class Model(nn.Module):
    def __init__(self, channels, no_spatial=False):
        super().__init__()
        self.ChannelGate = ChannelGate(channels)
        self.no_spatial = no_spatial
        if not no_spatial:
            self.SpatialGate = SpatialGate()

    def forward(self, x):
        out = self.ChannelGate(x)
        if not self.no_spatial:
            out = self.SpatialGate(out)
        return out


def get_inputs():
    return [th.randn(BS, CH, SIDE, SIDE)]


def get_init_inputs():
    return [CH]
