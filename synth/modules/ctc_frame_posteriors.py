import torch
import torch.nn as nn


class Model(nn.Module):
    """Acoustic head: projection, prior-scaled log posteriors, blank penalty and the best label of each frame."""

    def __init__(self, feat, labels, prior_scale, blank_penalty):
        super().__init__()
        self.proj = nn.Linear(feat, labels)
        self.register_buffer("log_prior", torch.log_softmax(torch.linspace(2.0, -2.0, labels), dim=0))
        self.prior_scale = prior_scale
        penalty = torch.zeros(labels)
        penalty[0] = blank_penalty
        self.register_buffer("penalty", penalty)

    def forward(self, frames):
        logp = self.proj(frames).log_softmax(-1)
        adjusted = logp - self.prior_scale * self.log_prior - self.penalty
        best = adjusted.max(dim=-1)
        return adjusted, best.values, best.indices


def get_inputs():
    return [torch.randn(9, 240, 144)]


def get_init_inputs():
    return [144, 73, 0.3, 1.0]
