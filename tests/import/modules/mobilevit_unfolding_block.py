import torch
import torch.nn as nn

DIM, CHANNEL, PATCH, SIDE = 48, 32, (2, 2), 16


def conv_nxn_bn(inp, oup, kernal_size=3, stride=1):
    return nn.Sequential(nn.Conv2d(inp, oup, kernal_size, stride, kernal_size // 2, bias=False), nn.BatchNorm2d(oup), nn.SiLU())


class Transformer(nn.Module):
    def __init__(self, dim, depth, heads, mlp_dim):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([
                nn.LayerNorm(dim),
                nn.MultiheadAttention(dim, heads, batch_first=True),
                nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, mlp_dim), nn.SiLU(), nn.Linear(mlp_dim, dim))
            ]))

    def forward(self, x):
        for norm, attn, ff in self.layers:
            y = norm(x)
            x = attn(y, y, y, need_weights=False)[0] + x
            x = ff(x) + x
        return x


class Model(nn.Module):
    def __init__(self, dim, channel, patch_size, depth=1):
        super().__init__()
        self.ph, self.pw = patch_size
        self.conv1 = conv_nxn_bn(channel, channel, 3)
        self.conv2 = conv_nxn_bn(channel, dim, 1)
        self.transformer = Transformer(dim, depth, 4, 2 * dim)
        self.conv3 = conv_nxn_bn(dim, channel, 1)
        self.conv4 = conv_nxn_bn(2 * channel, channel, 3)

    def unfolding(self, x):
        B, C, H, W = x.shape
        x = x.reshape(B, C, H // self.ph, self.ph, W // self.pw, self.pw)
        x = x.permute(0, 3, 5, 2, 4, 1)
        return x.reshape(B * self.ph * self.pw, (H // self.ph) * (W // self.pw), C)

    def folding(self, x, B, C, H, W):
        x = x.reshape(B, self.ph, self.pw, H // self.ph, W // self.pw, C)
        return x.permute(0, 5, 3, 1, 4, 2).reshape(B, C, H, W)

    def forward(self, x):
        y = x.clone()
        x = self.conv2(self.conv1(x))
        _, C, h, w = x.shape
        x = self.folding(self.transformer(self.unfolding(x)), y.shape[0], C, h, w)
        x = self.conv3(x)
        x = torch.cat((x, y), 1)
        return self.conv4(x)


def get_inputs():
    return [torch.randn(2, CHANNEL, SIDE, SIDE)]


def get_init_inputs():
    return [DIM, CHANNEL, PATCH]
