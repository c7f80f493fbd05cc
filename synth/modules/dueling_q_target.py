import torch
import torch.nn as nn


class DuelingNet(nn.Module):
    def __init__(self, obs, hidden, actions):
        super().__init__()
        self.body = nn.Linear(obs, hidden)
        self.v = nn.Linear(hidden, 1)
        self.a = nn.Linear(hidden, actions)

    def forward(self, s):
        h = torch.relu(self.body(s))
        adv = self.a(h)
        return self.v(h) + adv - adv.mean(1, keepdim=True)


class Model(nn.Module):
    """Double Q-learning target and temporal-difference error with two dueling networks."""

    def __init__(self, obs, hidden, actions, gamma):
        super().__init__()
        self.online = DuelingNet(obs, hidden, actions)
        self.target = DuelingNet(obs, hidden, actions)
        self.gamma = gamma

    def forward(self, s, a, r, s2, done):
        q = self.online(s).gather(1, a)
        best = self.online(s2).argmax(1, keepdim=True)
        q_next = self.target(s2).gather(1, best)
        return r + self.gamma * (1 - done) * q_next - q


def get_inputs():
    n = 2048
    return [torch.randn(n, 90), torch.randint(0, 12, (n, 1)), torch.randn(n, 1), torch.randn(n, 90), (torch.rand(n, 1) > 0.8).float()]


def get_init_inputs():
    return [90, 150, 12, 0.97]
