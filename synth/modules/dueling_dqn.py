import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=128):
        super(Model, self).__init__()
        self.feature = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU())
        self.advantage = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_actions))
        self.value = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, obs):
        f = self.feature(obs)
        adv = self.advantage(f)
        val = self.value(f)
        return val + adv - adv.mean(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(2048, 54)]


def get_init_inputs():
    return [54, 18, 136]
