import copy
import torch
import torch.nn as nn

DIM = 64
HW = 20
DEPTH = 2

class GroupNorm(nn.GroupNorm):
    """
    Group Normalization with 1 group.
    Input: tensor in shape [B, C, H, W]
    """
    def __init__(self, num_channels, **kwargs):
        super().__init__(1, num_channels, **kwargs)

class Pooling(nn.Module):
    def __init__(self, pool_size=3):
        super().__init__()
        self.pool = nn.AvgPool2d(pool_size, stride=1, padding=pool_size//2, count_include_pad=False)

    def forward(self, x):
        return self.pool(x) - x

class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, drop=0.):
        super().__init__()
        out_features = out_features or in_features
        hidden_features = hidden_features or in_features
        self.fc1 = nn.Conv2d(in_features, hidden_features, 1)
        self.act = act_layer()
        self.fc2 = nn.Conv2d(hidden_features, out_features, 1)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.drop(x)
        x = self.fc2(x)
        x = self.drop(x)
        return x

class PoolFormerBlock(nn.Module):
    def __init__(self, dim, pool_size=3, mlp_ratio=4., use_layer_scale=True, layer_scale_init_value=1e-1):
        super().__init__()
        self.norm1 = GroupNorm(dim)
        self.token_mixer = Pooling(pool_size=pool_size)
        self.norm2 = GroupNorm(dim)
        self.mlp = Mlp(in_features=dim, hidden_features=int(dim * mlp_ratio))
        self.use_layer_scale = use_layer_scale
        if use_layer_scale:
            self.layer_scale_1 = nn.Parameter(layer_scale_init_value * torch.ones((dim)), requires_grad=True)
            self.layer_scale_2 = nn.Parameter(layer_scale_init_value * torch.ones((dim)), requires_grad=True)

    def forward(self, x):
        if self.use_layer_scale:
            x = x + (self.layer_scale_1.unsqueeze(-1).unsqueeze(-1) * self.token_mixer(self.norm1(x)))
            x = x + (self.layer_scale_2.unsqueeze(-1).unsqueeze(-1) * self.mlp(self.norm2(x)))
        else:
            x = x + self.token_mixer(self.norm1(x))
            x = x + self.mlp(self.norm2(x))
        return x

class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        first = PoolFormerBlock(dim)
        self.blocks = nn.ModuleList([copy.deepcopy(first) for _ in range(depth)])
        self.blocks[-1].use_layer_scale = False

    def forward(self, x):
        outs = []
        for idx, block in enumerate(self.blocks):
            x = block(x)
            if idx % 2 == 0:
                outs.append(x.flatten(2).mean(-1))
        return x, outs

def get_inputs():
    return [torch.randn(2, DIM, HW, HW)]

def get_init_inputs():
    return [DIM, DEPTH]
