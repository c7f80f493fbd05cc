import torch
import torch.nn as nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, ch, t_ch):
        super().__init__()
        self.norm = nn.GroupNorm(4, ch)
        self.conv1 = nn.Conv2d(ch, ch, 3, padding=1)
        self.conv2 = nn.Conv2d(ch, ch, 3, padding=1)
        self.t = nn.Linear(t_ch, 2 * ch)

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm(x)))
        scale, shift = self.t(F.silu(emb))[:, :, None, None].chunk(2, dim=1)
        h = h * (1 + scale) + shift
        return x + self.conv2(F.silu(h))


class Model(nn.Module):
    """Predicts the noise in a noisy picture, given its time step (0 <= t < T)."""

    def __init__(self, in_ch: int, ch: int, t_ch: int, T: int, n_blocks: int):
        super().__init__()
        self.t_table = nn.Embedding(T, t_ch)
        self.conv_in = nn.Conv2d(in_ch, ch, 3, padding=1)
        self.blocks = nn.ModuleList([ResBlock(ch, t_ch) for _ in range(n_blocks)])
        self.conv_out = nn.Conv2d(ch, in_ch, 3, padding=1)

    def forward(self, x_t, t):
        emb = self.t_table(t)
        h = self.conv_in(x_t)
        for block in self.blocks:
            h = block(h, emb)
        return self.conv_out(h)


def get_inputs():
    return [torch.randn(18, 3, 40, 40), torch.randint(0, 250, (18,))]


def get_init_inputs():
    return [3, 36, 50, 250, 2]
