import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Image to patch embedding.

    Args:
        img_size: side of the image
        patch_size: side of a patch
        in_chans: channels of the image
        embed_dim: width of a token
    """

    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768):
        super().__init__()
        self.num_patches = (img_size // patch_size) ** 2
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


def get_inputs():
    return [torch.randn(8, 3, 192, 192)]


def get_init_inputs():
    return [192, 16, 3, 320]
