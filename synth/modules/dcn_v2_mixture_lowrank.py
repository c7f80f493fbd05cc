import torch
import torch.nn as nn


class Model(nn.Module):
    """DCN-Mix layer: low-rank experts with tanh in the projected space and a softmax gate."""

    def __init__(self, in_features, low_rank=32, num_experts=4):
        super().__init__()
        self.U = nn.Parameter(nn.init.xavier_normal_(torch.empty(num_experts, in_features, low_rank)))
        self.V = nn.Parameter(nn.init.xavier_normal_(torch.empty(num_experts, in_features, low_rank)))
        self.C = nn.Parameter(nn.init.xavier_normal_(torch.empty(num_experts, low_rank, low_rank)))
        self.gating = nn.Linear(in_features, num_experts, bias=False)
        self.bias = nn.Parameter(torch.zeros(in_features))

    def forward(self, x_0, x_l):
        v = torch.tanh(torch.einsum("bi,eir->ber", x_l, self.V))
        v = torch.tanh(torch.einsum("ber,eqr->beq", v, self.C))
        uv = torch.einsum("beq,eiq->bei", v, self.U)
        dot = x_0.unsqueeze(1) * (uv + self.bias)
        gate = self.gating(x_l).softmax(1).unsqueeze(1)
        return torch.matmul(gate, dot).squeeze(1) + x_l


def get_inputs():
    return [torch.randn(2048, 208), torch.randn(2048, 208)]


def get_init_inputs():
    return [208]
