import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, p, dim):
        super().__init__()
        self.p = p
        patch_dim = 3 * p * p
        self.norm_in = nn.LayerNorm(patch_dim)
        self.lin = nn.Linear(patch_dim, dim)
        self.norm_out = nn.LayerNorm(dim)

    def forward(self, img):
        b, c, H, W = img.shape
        p = self.p
        h, w = H // p, W // p
        # b c (h p1) (w p2) -> b (h w) (p1 p2 c)
        x = img.reshape(b, c, h, p, w, p).permute(0, 2, 4, 3, 5, 1).reshape(b, h * w, p * p * c)
        return self.norm_out(self.lin(self.norm_in(x)))


def get_inputs():
    return [torch.rand(8, 3, 112, 112)]


def get_init_inputs():
    return [8, 128]
