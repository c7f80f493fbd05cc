import torch
import torch.nn as nn

N_FEATS, N_RESBLOCKS, REDUCTION, SCALE = 24, 2, 8, 2
LR = 24

def default_conv(in_channels, out_channels, kernel_size, bias=True):
    return nn.Conv2d(in_channels, out_channels, kernel_size, padding=(kernel_size//2), bias=bias)

class MeanShift(nn.Conv2d):
    def __init__(self, rgb_range, rgb_mean=(0.4488, 0.4371, 0.4040), rgb_std=(1.0, 1.0, 1.0), sign=-1):
        super(MeanShift, self).__init__(3, 3, kernel_size=1)
        std = torch.Tensor(rgb_std)
        self.weight.data = torch.eye(3).view(3, 3, 1, 1) / std.view(3, 1, 1, 1)
        self.bias.data = sign * rgb_range * torch.Tensor(rgb_mean) / std
        for p in self.parameters():
            p.requires_grad = False

class CALayer(nn.Module):
    def __init__(self, channel, reduction=16):
        super().__init__()
        self.conv_du = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channel, channel // reduction, 1),
                                     nn.ReLU(inplace=True), nn.Conv2d(channel // reduction, channel, 1), nn.Sigmoid())
    def forward(self, x):
        return x * self.conv_du(x)

class RCAB(nn.Module):
    def __init__(self, conv, n_feat, kernel_size, reduction, act=nn.ReLU(True), res_scale=1):
        super().__init__()
        modules_body = []
        for i in range(2):
            modules_body.append(conv(n_feat, n_feat, kernel_size))
            if i == 0: modules_body.append(act)
        modules_body.append(CALayer(n_feat, reduction))
        self.body = nn.Sequential(*modules_body)
    def forward(self, x):
        res = self.body(x)
        res += x
        return res

class Model(nn.Module):
    def __init__(self, n_feats, n_resblocks, reduction, scale, conv=default_conv):
        super().__init__()
        self.sub_mean = MeanShift(1.0)
        self.add_mean = MeanShift(1.0, sign=1)
        self.head = conv(3, n_feats, 3)
        self.body = nn.Sequential(*[RCAB(conv, n_feats, 3, reduction) for _ in range(n_resblocks)], conv(n_feats, n_feats, 3))
        self.tail = nn.Sequential(conv(n_feats, scale ** 2 * n_feats, 3), nn.PixelShuffle(scale), conv(n_feats, 3, 3))
    def forward(self, x):
        x = self.head(self.sub_mean(x))
        res = self.body(x)
        res += x
        return self.add_mean(self.tail(res))

def get_inputs():
    return [torch.rand(1, 3, LR, LR)]
def get_init_inputs():
    return [N_FEATS, N_RESBLOCKS, REDUCTION, SCALE]
