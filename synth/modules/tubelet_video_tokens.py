import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, tube, patch, chans, dim, max_t, max_s):
        super().__init__()
        self.proj = nn.Conv3d(chans, dim, kernel_size=(tube, patch, patch), stride=(tube, patch, patch))
        self.time_pos = nn.Parameter(torch.randn(max_t, dim) * 0.02)
        self.space_pos = nn.Parameter(torch.randn(max_s, dim) * 0.02)

    def forward(self, video):
        z = self.proj(video)
        b, d, t, h, w = z.shape
        z = z.flatten(3).permute(0, 2, 3, 1)            # b t s d
        z = z + self.time_pos[:t, None] + self.space_pos[None, :h * w]
        return z.reshape(b, -1, d)


def get_inputs():
    return [torch.randn(2, 3, 8, 112, 112)]


def get_init_inputs():
    return [2, 16, 3, 192, 8, 64]
