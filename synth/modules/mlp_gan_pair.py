import torch
import torch.nn as nn


def block(in_feat, out_feat, normalize=True):
    layers = [nn.Linear(in_feat, out_feat)]
    if normalize:
        layers.append(nn.BatchNorm1d(out_feat, 0.8))
    layers.append(nn.LeakyReLU(0.2))
    return layers


class Model(nn.Module):
    def __init__(self, latent_dim, img_shape):
        super(Model, self).__init__()
        self.img_shape = tuple(img_shape)
        n = 1
        for s in self.img_shape:
            n *= s
        self.model = nn.Sequential(
            *block(latent_dim, 96, normalize=False),
            *block(96, 192),
            *block(192, 384),
            nn.Linear(384, n),
            nn.Tanh()
        )

    def forward(self, z):
        img = self.model(z)
        img = img.view(img.shape[0], *self.img_shape)
        return img


def get_inputs():
    return [torch.randn(800, 64)]


def get_init_inputs():
    return [64, [1, 26, 26]]
