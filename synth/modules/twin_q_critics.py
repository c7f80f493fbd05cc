import torch
import torch.nn as nn
import torch.nn.functional as F


class QNet(nn.Module):
    def __init__(self, s, a, h):
        super().__init__()
        self.l1 = nn.Linear(s + a, h)
        self.l2 = nn.Linear(h, h)
        self.l3 = nn.Linear(h, 1)

    def forward(self, state, action):
        q = F.relu(self.l1(torch.cat([state, action], 1)))
        q = F.relu(self.l2(q))
        return self.l3(q)


class Model(nn.Module):
    def __init__(self, s, a, h, gamma):
        super().__init__()
        self.q1 = QNet(s, a, h)
        self.q2 = QNet(s, a, h)
        self.gamma = gamma

    def forward(self, next_state, next_action, reward, done):
        q = torch.min(self.q1(next_state, next_action), self.q2(next_state, next_action))
        return reward + (1.0 - done) * self.gamma * q


def get_inputs():
    n = 1700
    return [torch.randn(n, 33), torch.rand(n, 6) * 2 - 1, torch.randn(n, 1), (torch.rand(n, 1) < 0.1).float()]


def get_init_inputs():
    return [33, 6, 240, 0.99]
