import torch
import torch.nn as nn

T, ENVS = 64, 256
GAMMA, LAMBDA = 0.99, 0.95


class Model(nn.Module):
    """Backward recursion over a rollout; also V-trace-like clipped weights."""

    def __init__(self, gamma: float, gae_lambda: float, rho_bar: float = 1.0) -> None:
        super().__init__()
        self.gamma, self.gae_lambda, self.rho_bar = gamma, gae_lambda, rho_bar

    def forward(self, rewards, values, dones, last_value, log_rho=None):
        num_steps = rewards.shape[0]
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        not_done = 1.0 - dones.to(rewards.dtype)
        for t in reversed(range(num_steps)):
            nextvalues = last_value if t == num_steps - 1 else values[t + 1]
            delta = rewards[t] + self.gamma * nextvalues * not_done[t] - values[t]
            if log_rho is not None:
                delta = log_rho[t].exp().clamp(max=self.rho_bar) * delta
            advantages[t] = lastgaelam = delta + self.gamma * self.gae_lambda * not_done[t] * lastgaelam
        returns = advantages + values
        ev = 1 - (returns - values).var() / returns.var().clamp(min=1e-8)
        return advantages, returns, ev


def get_inputs():
    return [torch.randn(T, ENVS), torch.randn(T, ENVS), torch.rand(T, ENVS) < 0.05, torch.randn(ENVS), torch.randn(T, ENVS) * 0.1]


def get_init_inputs():
    return [GAMMA, LAMBDA]
