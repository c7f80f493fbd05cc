import torch
import torch.nn as nn


class Model(nn.Module):
    """Distributional RL target: shifted atoms projected on the support by triangular weights."""

    def __init__(self, n_atoms, v_min, v_max, gamma):
        super().__init__()
        self.register_buffer("support", torch.linspace(v_min, v_max, n_atoms))
        self.delta = (v_max - v_min) / (n_atoms - 1)
        self.v_min, self.v_max, self.gamma = v_min, v_max, gamma

    def forward(self, next_logits, rewards, dones):
        # next_logits: (B, A, n_atoms)
        p = next_logits.softmax(-1)
        q = (p * self.support).sum(-1)
        greedy = q.argmax(1)
        p = p[torch.arange(p.shape[0], device=p.device), greedy]
        tz = rewards[:, None] + self.gamma * (1 - dones[:, None]) * self.support
        tz = tz.clamp(self.v_min, self.v_max)
        w = (1 - (tz[:, :, None] - self.support).abs() / self.delta).clamp(min=0)
        return torch.einsum("bj,bji->bi", p, w), q


def get_inputs():
    return [torch.randn(1024, 6, 51), torch.randn(1024), (torch.rand(1024) < 0.1).float()]


def get_init_inputs():
    return [51, -10.0, 10.0, 0.99]
