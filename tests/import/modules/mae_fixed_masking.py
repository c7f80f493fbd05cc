"""Masked-autoencoder patch selection; the noise is an input so that the result repeats."""
import torch
import torch.nn as nn

IMG, PATCH, EMBED, MASK_RATIO = 64, 8, 48, 0.75


class Model(nn.Module):
    def __init__(self, img, patch, embed, norm_pix_loss=True):
        super().__init__()
        self.p = patch
        self.norm_pix_loss = norm_pix_loss
        self.embed = nn.Linear(3 * patch ** 2, embed)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, embed).normal_(std=.02))
        self.block = nn.TransformerEncoderLayer(embed, 4, 2 * embed, 0.0, "gelu", batch_first=True)
        self.pred = nn.Linear(embed, 3 * patch ** 2)

    def patchify(self, imgs):
        p = self.p
        assert imgs.shape[2] == imgs.shape[3] and imgs.shape[2] % p == 0
        h = w = imgs.shape[2] // p
        x = imgs.reshape(shape=(imgs.shape[0], 3, h, p, w, p))
        x = torch.einsum('nchpwq->nhwpqc', x)
        return x.reshape(shape=(imgs.shape[0], h * w, p ** 2 * 3))

    def forward(self, imgs, noise):
        target = self.patchify(imgs)
        x = self.embed(target)
        N, L, D = x.shape
        len_keep = int(L * (1 - MASK_RATIO))
        ids_shuffle = torch.argsort(noise, dim=1)
        ids_restore = torch.argsort(ids_shuffle, dim=1)
        ids_keep = ids_shuffle[:, :len_keep]
        x = torch.gather(x, dim=1, index=ids_keep.unsqueeze(-1).repeat(1, 1, D))
        mask = torch.ones([N, L], device=x.device)
        mask[:, :len_keep] = 0
        mask = torch.gather(mask, dim=1, index=ids_restore)
        x = self.block(x)
        x = torch.cat([x, self.mask_token.repeat(N, L - len_keep, 1)], dim=1)
        x = torch.gather(x, dim=1, index=ids_restore.unsqueeze(-1).repeat(1, 1, D))
        pred = self.pred(x)
        if self.norm_pix_loss:
            mean, var = target.mean(dim=-1, keepdim=True), target.var(dim=-1, keepdim=True)
            target = (target - mean) / (var + 1.e-6) ** .5
        loss = ((pred - target) ** 2).mean(dim=-1)
        return (loss * mask).sum() / mask.sum(), pred, mask


def get_inputs():
    return [torch.rand(4, 3, IMG, IMG), torch.rand(4, (IMG // PATCH) ** 2)]


def get_init_inputs():
    return [IMG, PATCH, EMBED]
