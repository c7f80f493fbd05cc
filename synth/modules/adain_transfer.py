import torch
import torch.nn as nn


def calc_mean_std(feat, eps=1e-5):
    n, c = feat.size()[:2]
    flat = feat.view(n, c, -1)
    std = (flat.var(dim=2) + eps).sqrt().view(n, c, 1, 1)
    mean = flat.mean(dim=2).view(n, c, 1, 1)
    return mean, std


class Model(nn.Module):
    # Gives content features the mean and deviation of style features
    def __init__(self, alpha: float):
        super().__init__()
        assert 0.0 <= alpha <= 1.0
        self.alpha = alpha

    def forward(self, content, style):
        c_mean, c_std = calc_mean_std(content)
        s_mean, s_std = calc_mean_std(style)
        t = (content - c_mean) / c_std * s_std + s_mean
        return self.alpha * t + (1 - self.alpha) * content


def get_init_inputs():
    return [0.85]


def get_inputs():
    return [torch.randn(3, 100, 60, 60), torch.randn(3, 100, 50, 52)]
