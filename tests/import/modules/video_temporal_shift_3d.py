import torch
from torch import nn

FRAMES, CH, SIDE = 8, 24, 14
FOLD_DIV = 8


def temporal_shift(x, n_segment, fold_div=3):
    nt, c, h, w = x.size()
    n_batch = nt // n_segment
    x = x.view(n_batch, n_segment, c, h, w)
    fold = c // fold_div
    out = torch.zeros_like(x)
    out[:, :-1, :fold] = x[:, 1:, :fold]  # shift left
    out[:, 1:, fold: 2 * fold] = x[:, :-1, fold: 2 * fold]  # shift right
    out[:, :, 2 * fold:] = x[:, :, 2 * fold:]  # not shift
    return out.view(nt, c, h, w)


class Conv2Plus1D(nn.Sequential):
    def __init__(self, in_planes: int, out_planes: int, midplanes: int, stride: int = 1, padding: int = 1) -> None:
        super().__init__(
            nn.Conv3d(in_planes, midplanes, kernel_size=(1, 3, 3), stride=(1, stride, stride),
                      padding=(0, padding, padding), bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, kernel_size=(3, 1, 1), stride=(stride, 1, 1), padding=(padding, 0, 0),
                      bias=False),
        )


class Model(nn.Module):
    def __init__(self, ch, frames):
        super().__init__()
        self.frames = frames
        self.conv2d = nn.Conv2d(ch, ch, 3, padding=1)
        self.conv3d = Conv2Plus1D(ch, ch, midplanes=32)
        self.pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(ch, 12)

    def forward(self, clip):
        """clip: (N, T, C, H, W)"""
        n, t = clip.shape[:2]
        x = temporal_shift(clip.flatten(0, 1), self.frames, FOLD_DIV)
        x = clip + self.conv2d(x).view_as(clip)
        x = x.transpose(1, 2)
        x = torch.relu(x + self.conv3d(x))
        x = self.pool(x).flatten(1)
        return self.fc(x)


def get_inputs():
    return [torch.randn(2, FRAMES, CH, SIDE, SIDE)]


def get_init_inputs():
    return [CH, FRAMES]
