import torch
import torch.nn as nn


class Model(nn.Module):
    """2-D axial rotary embedding for image patches.

    Half of the frequency pairs follow the row index and the other half the column index.

    Args:
        dim: size of a head, a multiple of four.
        grid: (height, width) of the patch grid.

    Shapes:
        q: (B, heads, H*W, dim) -> same
    """

    def __init__(self, dim, grid):
        super().__init__()
        h, w = grid
        quarter = dim // 4
        freqs = 100.0 ** (-torch.arange(quarter).float() / quarter)
        rows = torch.arange(h).float().repeat_interleave(w)
        cols = torch.arange(w).float().repeat(h)
        angle = torch.cat([rows[:, None] * freqs, cols[:, None] * freqs], dim=1)  # (HW, dim/2)
        self.register_buffer("angle", angle)

    def forward(self, q):
        pairs = q.reshape(*q.shape[:-1], -1, 2)
        even, odd = pairs.unbind(-1)
        c, s = self.angle.cos(), self.angle.sin()
        out = torch.stack([even * c - odd * s, even * s + odd * c], dim=-1)
        return out.reshape(q.shape)


def get_inputs():
    return [torch.randn(8, 6, 14 * 14, 64)]


def get_init_inputs():
    return [64, (14, 14)]
