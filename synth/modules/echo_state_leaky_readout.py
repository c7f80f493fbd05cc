import torch
import torch.nn as nn


class Model(nn.Module):
    """Echo state network: fixed sparse reservoir in a buffer, leaky integration, trained readout only."""

    def __init__(self, inputs, reservoir, outputs, leak):
        super().__init__()
        self.register_buffer("W_in", torch.rand(reservoir, inputs) - 0.5)
        W = torch.randn(reservoir, reservoir) * (torch.rand(reservoir, reservoir) < 0.1)
        self.register_buffer("W_res", W * 0.9 / (0.1 * reservoir) ** 0.5)
        self.readout = nn.Linear(reservoir + inputs, outputs)
        self.leak = leak

    def forward(self, u, state):
        pre = nn.functional.linear(u, self.W_in) + nn.functional.linear(state, self.W_res)
        state = torch.lerp(state, torch.tanh(pre), self.leak)
        return self.readout(torch.cat([state, u], -1)), state


def get_inputs():
    return [torch.randn(256, 20), torch.zeros(256, 600)]


def get_init_inputs():
    return [20, 600, 12, 0.3]
