import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Image to tokens: patches by a strided convolution, a class token in front, learned positions added.

    Args:
        img_size: side of the (square) image
        patch_size: side of a patch
        embed_dim: width of the tokens
    """

    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=192):
        super().__init__()
        self.num_patches = (img_size // patch_size) ** 2
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, self.num_patches + 1, embed_dim) * 0.02)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        cls_tokens = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        return x + self.pos_embed


def get_inputs():
    return [torch.randn(8, 3, 224, 224)]


def get_init_inputs():
    return [224, 16, 3, 192]
