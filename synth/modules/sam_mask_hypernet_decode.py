import torch
import torch.nn as nn


class Model(nn.Module):
    """Mask tokens become per-mask filters over the upscaled embedding; IoU scores from another token."""

    def __init__(self, dim, num_masks):
        super().__init__()
        self.upscale = nn.ConvTranspose2d(dim, dim // 4, kernel_size=2, stride=2)
        self.hyper = nn.Linear(dim, dim // 4)
        self.iou_head = nn.Linear(dim, num_masks)

    def forward(self, hs, src):
        b, c, h, w = src.shape
        up = nn.functional.gelu(self.upscale(src))
        hyper_in = self.hyper(hs[:, 1:])
        masks = (hyper_in @ up.flatten(2)).view(b, -1, h * 2, w * 2)
        return masks, self.iou_head(hs[:, 0]).sigmoid()


def get_inputs():
    return [torch.randn(4, 5, 128), torch.randn(4, 128, 32, 32)]


def get_init_inputs():
    return [128, 4]
