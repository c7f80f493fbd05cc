import torch
import torch.nn as nn


class Model(nn.Module):
    """Trace-based spike-timing plasticity for a dense synapse matrix."""

    def __init__(self, tau_pre, tau_post, a_plus, a_minus, w_max):
        super().__init__()
        self.decay_pre = 1 - 1 / tau_pre
        self.decay_post = 1 - 1 / tau_post
        self.a_plus, self.a_minus = a_plus, a_minus
        self.w_max = w_max

    def forward(self, w, pre_spike, post_spike, x_pre, x_post):
        x_pre = x_pre * self.decay_pre + pre_spike
        x_post = x_post * self.decay_post + post_spike
        potentiate = torch.outer(post_spike, x_pre)
        depress = torch.outer(x_post, pre_spike)
        w = w + self.a_plus * (self.w_max - w) * potentiate - self.a_minus * w * depress
        return w.clamp(0.0, self.w_max), x_pre, x_post


def get_inputs():
    n_post, n_pre = 800, 1200
    return [
        torch.rand(n_post, n_pre),
        (torch.rand(n_pre) < 0.1).float(),
        (torch.rand(n_post) < 0.1).float(),
        torch.rand(n_pre),
        torch.rand(n_post),
    ]


def get_init_inputs():
    return [20.0, 25.0, 0.01, 0.012, 1.0]
