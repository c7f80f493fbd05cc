import torch
import torch.nn as nn

D_MODEL = 320
D_SHARED = 768


class SwiGLU(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.w1 = nn.Linear(d, h, bias=False)
        self.w3 = nn.Linear(d, h, bias=False)
        self.w2 = nn.Linear(h, d, bias=False)

    def forward(self, x):
        return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))


class Model(nn.Module):
    """Qwen-MoE: the routed experts' sum comes in, the shared expert is added through a scalar gate."""

    def __init__(self, d, h):
        super().__init__()
        self.shared_expert = SwiGLU(d, h)
        self.shared_expert_gate = nn.Linear(d, 1, bias=False)

    def forward(self, hidden_states, routed_output):
        shared = self.shared_expert(hidden_states)
        shared = torch.sigmoid(self.shared_expert_gate(hidden_states)) * shared
        return routed_output + shared


def get_inputs():
    return [torch.randn(700, D_MODEL), torch.randn(700, D_MODEL)]


def get_init_inputs():
    return [D_MODEL, D_SHARED]
