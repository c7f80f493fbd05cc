import torch
import torch.nn as nn
import math

LOG_STD_MIN, LOG_STD_MAX = -5, 2


class Model(nn.Module):
    """Policy of soft actor-critic; the noise is an argument. Returns the action and its log probability."""

    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc_mean = nn.Linear(hidden, act_dim)
        self.fc_logstd = nn.Linear(hidden, act_dim)

    def forward(self, x, eps):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        mean = self.fc_mean(x)
        log_std = torch.tanh(self.fc_logstd(x))
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (log_std + 1)
        action = torch.tanh(mean + log_std.exp() * eps)
        log_prob = -0.5 * eps ** 2 - log_std - 0.5 * math.log(2 * math.pi) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(1, keepdim=True)


def get_inputs():
    return [torch.randn(4096, 17), torch.randn(4096, 6)]


def get_init_inputs():
    return [17, 6, 256]
