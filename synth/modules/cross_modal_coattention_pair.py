import torch
import torch.nn as nn


class Model(nn.Module):
    """One affinity matrix serves both directions: text reads regions, regions read text."""

    def __init__(self, d_t, d_v, d):
        super().__init__()
        self.t = nn.Linear(d_t, d)
        self.v = nn.Linear(d_v, d)

    def forward(self, text, regions, text_pad):
        t, v = torch.tanh(self.t(text)), torch.tanh(self.v(regions))
        C = torch.bmm(t, v.transpose(1, 2)) / t.shape[-1] ** 0.5
        t2v = C.softmax(dim=2) @ v
        C_masked = C.masked_fill(text_pad.unsqueeze(2), -1e4)
        v2t = C_masked.softmax(dim=1).transpose(1, 2) @ t
        return torch.cat([t, t2v], -1), torch.cat([v, v2t], -1)


def get_inputs():
    pad = torch.arange(40)[None] >= torch.randint(10, 41, (24, 1))
    return [torch.randn(24, 40, 300), torch.randn(24, 36, 512), pad]


def get_init_inputs():
    return [300, 512, 256]
