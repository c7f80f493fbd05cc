import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The part of a Mamba block around the scan: in-projection, causal depthwise conv, SiLU, gate, out-projection."""

    def __init__(self, d_model, expand=2, d_conv=4):
        super().__init__()
        self.d_inner = expand * d_model
        self.in_proj = nn.Linear(d_model, self.d_inner * 2, bias=False)
        self.conv1d = nn.Conv1d(self.d_inner, self.d_inner, d_conv, groups=self.d_inner, padding=d_conv - 1)
        self.out_proj = nn.Linear(self.d_inner, d_model, bias=False)

    def forward(self, hidden_states):
        L = hidden_states.shape[1]
        x, z = self.in_proj(hidden_states).chunk(2, dim=-1)
        x = self.conv1d(x.transpose(1, 2))[..., :L].transpose(1, 2)
        y = F.silu(x) * F.silu(z)
        return self.out_proj(y)


def get_inputs():
    return [torch.randn(8, 200, 128)]


def get_init_inputs():
    return [128]
