import torch
import torch.nn as nn


class Model(nn.Module):
    """Scale-invariant log loss with valid mask plus a gradient matching term."""

    def __init__(self, variance_focus=0.85, grad_weight=0.5):
        super().__init__()
        self.vf, self.gw = variance_focus, grad_weight

    def forward(self, est, gt, valid):
        v = valid.float()
        d = (torch.log(est) - torch.log(gt)) * v
        n = v.sum()
        silog = torch.sqrt((d**2).sum() / n - self.vf * (d.sum() / n) ** 2) * 10.0
        gx = (d[..., :, 1:] - d[..., :, :-1]).abs() * v[..., :, 1:] * v[..., :, :-1]
        gy = (d[..., 1:, :] - d[..., :-1, :]).abs() * v[..., 1:, :] * v[..., :-1, :]
        return silog + self.gw * (gx.sum() + gy.sum()) / n


def get_inputs():
    s = (4, 1, 240, 320)
    return [torch.rand(s) * 9 + 0.5, torch.rand(s) * 9 + 0.5, torch.rand(s) > 0.2]


def get_init_inputs():
    return []
