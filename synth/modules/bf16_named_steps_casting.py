import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.wi = nn.Linear(hidden_size, intermediate_size, bias=False, dtype=torch.bfloat16)
        self.wo = nn.Linear(intermediate_size, hidden_size, bias=False, dtype=torch.bfloat16)
        self.variance_epsilon = 1e-6

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        hidden_states = self.wi(hidden_states.to(torch.bfloat16))
        hidden_states = nn.functional.relu(hidden_states)
        hidden_states = self.wo(hidden_states)
        return residual + hidden_states


def get_inputs():
    return [torch.randn(2, 256, 256, dtype=torch.bfloat16)]


def get_init_inputs():
    return [256, 512]
