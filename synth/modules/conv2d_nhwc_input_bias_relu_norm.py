import torch
import torch.nn as nn


class Model(nn.Module):
    """Takes (N, H, W, C) images, convolves in NCHW, LayerNorm on the last axis back in NHWC, ReLU."""

    def __init__(self, in_chans, embed_dim, patch):
        super().__init__()
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch, stride=patch)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, img):
        x = self.proj(img.permute(0, 3, 1, 2))
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        return torch.relu(x)


def get_inputs():
    return [torch.rand(8, 112, 112, 3)]


def get_init_inputs():
    return [3, 96, 8]
