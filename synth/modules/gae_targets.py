import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Generalised advantage estimation over a short rollout.

    forward(rewards, values, dones) expects (T, N), (T + 1, N), (T, N).
    """

    def __init__(self, gamma, lam, horizon):
        super().__init__()
        self.gamma, self.lam = gamma, lam
        self.horizon = horizon

    def forward(self, rewards, values, dones):
        alive = 1.0 - dones
        delta = rewards + self.gamma * values[1:] * alive - values[:-1]
        running = torch.zeros_like(delta[0])
        out = []
        for t in reversed(range(self.horizon)):
            running = delta[t] + self.gamma * self.lam * alive[t] * running
            out.insert(0, running)
        adv = torch.stack(out)
        returns = adv + values[:-1]
        return (adv - adv.mean()) / (adv.std() + 1e-8), returns


T, N = 5, 40_000


def get_inputs():
    return [torch.randn(T, N), torch.randn(T + 1, N), (torch.rand(T, N) > 0.9).float()]


def get_init_inputs():
    return [0.99, 0.95, T]
