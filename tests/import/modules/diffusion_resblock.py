"""DDPM residual block with sinusoidal time embedding and scale-shift normalisation."""
import math

import torch as th
import torch.nn as nn

CHANNELS = 32
RES = 16
EMB = 64


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = th.exp(-math.log(max_period) * th.arange(start=0, end=half, dtype=th.float32) / half).to(
        device=timesteps.device)
    args = timesteps[:, None].float() * freqs[None]
    embedding = th.cat([th.cos(args), th.sin(args)], dim=-1)
    if dim % 2:
        embedding = th.cat([embedding, th.zeros_like(embedding[:, :1])], dim=-1)
    return embedding


class GroupNorm32(nn.GroupNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)


def normalization(channels):
    return GroupNorm32(8, channels)


class ResBlock(nn.Module):
    def __init__(self, channels, emb_channels, out_channels=None, use_scale_shift_norm=False):
        super().__init__()
        self.out_channels = out_channels or channels
        self.use_scale_shift_norm = use_scale_shift_norm
        self.in_layers = nn.Sequential(
            normalization(channels), nn.SiLU(), nn.Conv2d(channels, self.out_channels, 3, padding=1))
        self.emb_layers = nn.Sequential(
            nn.SiLU(),
            nn.Linear(emb_channels, 2 * self.out_channels if use_scale_shift_norm else self.out_channels))
        self.out_layers = nn.Sequential(
            normalization(self.out_channels), nn.SiLU(), nn.Dropout(p=0),
            nn.Conv2d(self.out_channels, self.out_channels, 3, padding=1))
        if self.out_channels == channels:
            self.skip_connection = nn.Identity()
        else:
            self.skip_connection = nn.Conv2d(channels, self.out_channels, 1)

    def forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb).type(h.dtype)
        while len(emb_out.shape) < len(h.shape):
            emb_out = emb_out[..., None]
        if self.use_scale_shift_norm:
            out_norm, out_rest = self.out_layers[0], self.out_layers[1:]
            scale, shift = th.chunk(emb_out, 2, dim=1)
            h = out_norm(h) * (1 + scale) + shift
            h = out_rest(h)
        else:
            h = h + emb_out
            h = self.out_layers(h)
        return self.skip_connection(x) + h


class Model(nn.Module):
    def __init__(self, channels, emb):
        super().__init__()
        self.model_channels = emb
        self.time_embed = nn.Sequential(nn.Linear(emb, 2 * emb), nn.SiLU(), nn.Linear(2 * emb, 2 * emb))
        self.block1 = ResBlock(channels, 2 * emb, use_scale_shift_norm=True)
        self.block2 = ResBlock(channels, 2 * emb, out_channels=channels + 16)

    def forward(self, x, timesteps):
        emb = self.time_embed(timestep_embedding(timesteps, self.model_channels))
        return self.block2(self.block1(x, emb), emb)


def get_inputs():
    return [th.randn(2, CHANNELS, RES, RES), th.randint(0, 1000, (2,))]


def get_init_inputs():
    return [CHANNELS, EMB]
