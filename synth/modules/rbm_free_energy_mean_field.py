import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n_vis, n_hin):
        super().__init__()
        self.W = nn.Parameter(torch.randn(n_hin, n_vis) * 1e-2)
        self.v_bias = nn.Parameter(torch.zeros(n_vis))
        self.h_bias = nn.Parameter(torch.zeros(n_hin))

    def v_to_h(self, v):
        return torch.sigmoid(F.linear(v, self.W, self.h_bias))

    def h_to_v(self, h):
        return torch.sigmoid(F.linear(h, self.W.t(), self.v_bias))

    def free_energy(self, v):
        vbias_term = v.mv(self.v_bias)
        wx_b = F.linear(v, self.W, self.h_bias)
        hidden_term = wx_b.exp().add(1).log().sum(1)
        return -hidden_term - vbias_term

    def forward(self, v):
        v_rec = self.h_to_v(self.v_to_h(v))
        return self.free_energy(v) - self.free_energy(v_rec)


def get_inputs():
    return [(torch.rand(256, 784) > 0.5).float()]


def get_init_inputs():
    return [784, 300]
