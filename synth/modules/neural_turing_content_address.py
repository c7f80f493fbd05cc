import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Erase and add of a neural Turing machine's memory, with sharpened dot-product addressing."""

    def __init__(self, ctrl, M):
        super().__init__()
        self.fc = nn.Linear(ctrl, 3 * M + 2)
        self.lengths = [M, M, M, 1, 1]

    def forward(self, controller, memory):
        k, e, a, beta, gamma = torch.split(self.fc(controller), self.lengths, dim=1)
        w = F.softmax(F.softplus(beta) * torch.einsum("bnm,bm->bn", memory, torch.tanh(k)), dim=1)
        w = w ** (1 + F.softplus(gamma))
        w = w / (w.sum(1, keepdim=True) + 1e-16)
        read = torch.bmm(w.unsqueeze(1), memory).squeeze(1)
        erase = torch.bmm(w.unsqueeze(-1), torch.sigmoid(e).unsqueeze(1))
        add = w.unsqueeze(-1) * a.unsqueeze(1)
        return read, memory * (1 - erase) + add


def get_inputs():
    return [torch.randn(64, 100), torch.randn(64, 128, 20) * 0.3]


def get_init_inputs():
    return [100, 20]
