import math
import torch
import torch.nn as nn

LOG_STD_MAX = 2
LOG_STD_MIN = -5


class Model(nn.Module):
    """Squashed Gaussian actor with the noise handed in; gives the action and its log-probability."""

    def __init__(self, obs, act, hidden, scale):
        super().__init__()
        self.fc1 = nn.Linear(obs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc_mean = nn.Linear(hidden, act)
        self.fc_logstd = nn.Linear(hidden, act)
        self.register_buffer("action_scale", torch.full((act,), scale))

    def forward(self, x, noise):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        mean = self.fc_mean(x)
        log_std = torch.tanh(self.fc_logstd(x))
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (log_std + 1)
        u = mean + log_std.exp() * noise
        y = torch.tanh(u)
        log_prob = -0.5 * noise.pow(2) - log_std - 0.5 * math.log(2 * math.pi)
        log_prob = log_prob - torch.log(self.action_scale * (1 - y.pow(2)) + 1e-6)
        return y * self.action_scale, log_prob.sum(1, keepdim=True)


def get_inputs():
    return [torch.randn(3000, 27), torch.randn(3000, 8)]


def get_init_inputs():
    return [27, 8, 190, 1.5]
