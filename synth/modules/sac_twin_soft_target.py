import torch
import torch.nn as nn


class QHead(nn.Module):
    def __init__(self, obs, act, hidden):
        super().__init__()
        self.l1 = nn.Linear(obs + act, hidden)
        self.l2 = nn.Linear(hidden, 1)

    def forward(self, s, a):
        return self.l2(torch.relu(self.l1(torch.cat([s, a], dim=-1)))).squeeze(-1)


class Model(nn.Module):
    def __init__(self, obs, act, hidden, alpha, gamma):
        super().__init__()
        self.q_left = QHead(obs, act, hidden)
        self.q_right = QHead(obs, act, hidden)
        self.alpha = alpha
        self.gamma = gamma

    def forward(self, next_obs, next_act, next_logp, reward, not_done):
        q = torch.min(self.q_left(next_obs, next_act), self.q_right(next_obs, next_act))
        return reward + self.gamma * not_done * (q - self.alpha * next_logp)


def get_inputs():
    n = 4096
    return [torch.randn(n, 48), torch.rand(n, 6) * 2 - 1, torch.randn(n), torch.randn(n), torch.ones(n)]


def get_init_inputs():
    return [48, 6, 128, 0.2, 0.99]
