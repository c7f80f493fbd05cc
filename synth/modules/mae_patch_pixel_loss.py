import torch
import torch.nn as nn


class Model(nn.Module):
    """MAE loss: images to patches, per-patch normalised targets, mean over removed patches only."""

    def __init__(self, patch_size: int, norm_pix_loss: bool = True):
        super().__init__()
        self.patch_size = patch_size
        self.norm_pix_loss = norm_pix_loss

    def patchify(self, imgs):
        p = self.patch_size
        h = w = imgs.shape[2] // p
        x = imgs.reshape(shape=(imgs.shape[0], 3, h, p, w, p))
        x = torch.einsum('nchpwq->nhwpqc', x)
        return x.reshape(shape=(imgs.shape[0], h * w, p**2 * 3))

    def forward(self, imgs, pred, mask):
        target = self.patchify(imgs)
        if self.norm_pix_loss:
            mean = target.mean(dim=-1, keepdim=True)
            var = target.var(dim=-1, keepdim=True)
            target = (target - mean) / (var + 1.e-6)**.5
        loss = (pred - target) ** 2
        loss = loss.mean(dim=-1)
        return (loss * mask).sum() / mask.sum()


def get_inputs():
    return [torch.randn(16, 3, 128, 128), torch.randn(16, 64, 768), (torch.rand(16, 64) < 0.75).float()]


def get_init_inputs():
    return [16]
