import torch
import torch.nn as nn


class Model(nn.Module):
    """Experts over tokens already sorted into equal capacity buckets: two batched products with gated GELU."""

    def __init__(self, num_local_experts, hidden_size, expert_dim):
        super().__init__()
        self.num_experts = num_local_experts
        self.gate_up_proj = nn.Parameter(torch.empty(num_local_experts, hidden_size, 2 * expert_dim))
        self.down_proj = nn.Parameter(torch.empty(num_local_experts, expert_dim, hidden_size))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.normal_(self.gate_up_proj, std=0.04)
        nn.init.normal_(self.down_proj, std=0.04)

    def forward(self, hidden_states, bucket_weight):
        hidden_states = hidden_states.view(self.num_experts, -1, hidden_states.shape[-1])
        gate, up = torch.bmm(hidden_states, self.gate_up_proj).chunk(2, dim=-1)
        next_states = torch.bmm(up * nn.functional.gelu(gate, approximate="tanh"), self.down_proj)
        next_states = next_states.flatten(0, 1)
        return next_states * bucket_weight[:, None]


def get_inputs():
    return [torch.randn(8 * 128, 256), torch.rand(8 * 128)]


def get_init_inputs():
    return [8, 256, 384]
