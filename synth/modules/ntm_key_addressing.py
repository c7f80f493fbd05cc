import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # Controller emits a key, a strength, an erase and an add vector; returns the new memory and what was read
    def __init__(self, n_in, n_ctrl, mem_width):
        super().__init__()
        self.ctrl = nn.Linear(n_in, n_ctrl)
        self.head = nn.Linear(n_ctrl, 3 * mem_width + 1)
        self.w = mem_width

    def forward(self, x, memory):
        h = torch.tanh(self.ctrl(x))
        k, e, a, beta = self.head(h).split([self.w, self.w, self.w, 1], dim=1)
        scores = torch.einsum("bw,bnw->bn", k, memory) * F.softplus(beta)
        att = F.softmax(scores, dim=1)
        read = torch.einsum("bn,bnw->bw", att, memory)
        w = att.unsqueeze(-1)
        new_memory = memory * (1 - w * torch.sigmoid(e).unsqueeze(1)) + w * a.unsqueeze(1)
        return new_memory, torch.cat([h, read], -1)


def get_inputs():
    return [torch.randn(200, 64), torch.randn(200, 100, 36)]


def get_init_inputs():
    return [64, 120, 36]
