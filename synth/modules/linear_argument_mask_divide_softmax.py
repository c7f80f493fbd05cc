import torch
import torch.nn as nn


class Model(nn.Module):
    """Policy head: Linear logits divided by a temperature, illegal actions masked, softmax."""

    def __init__(self, state_dim, num_actions, temperature):
        super().__init__()
        self.policy = nn.Linear(state_dim, num_actions)
        self.temperature = temperature

    def forward(self, state, legal):
        logits = torch.div(self.policy(state), self.temperature)
        logits = logits.masked_fill(~legal, -1e9)
        return torch.softmax(logits, dim=-1)


def get_inputs():
    legal = torch.rand(512, 361) > 0.4
    legal[:, 0] = True
    return [torch.randn(512, 192), legal]


def get_init_inputs():
    return [192, 361, 1.3]
