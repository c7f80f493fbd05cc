import torch
import torch.nn as nn


class Model(nn.Module):
    """A recurrent layer without hidden-to-hidden weights, unrolled over a short sequence."""

    def __init__(self, d_in, d_h):
        super().__init__()
        self.to_zh = nn.Linear(d_in, 2 * d_h)

    def forward(self, x, h):
        steps = x.shape[1]
        z, cand = self.to_zh(x).chunk(2, -1)
        z = z.sigmoid()
        outs = []
        for t in range(steps):
            h = torch.lerp(h, cand[:, t], z[:, t])
            outs.append(h)
        return torch.stack(outs, dim=1)


def get_inputs():
    return [torch.randn(450, 4, 96), torch.zeros(450, 144)]


def get_init_inputs():
    return [96, 144]
