import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Location-sensitive attention scores of one decoder step, masked beyond each utterance's end."""

    def __init__(self, enc, dec, att, filters, kernel):
        super().__init__()
        self.W = nn.Linear(dec, att)
        self.V = nn.Linear(enc, att, bias=False)
        self.U = nn.Linear(filters, att, bias=False)
        self.loc = nn.Conv1d(1, filters, kernel, padding=kernel // 2, bias=False)
        self.w = nn.Parameter(torch.randn(att) * 0.1)

    def forward(self, state, memory, prev, lengths):
        f = self.U(self.loc(prev[:, None]).transpose(1, 2))
        e = torch.tanh(self.W(state)[:, None] + self.V(memory) + f) @ self.w
        keep = torch.arange(memory.size(1), device=memory.device)[None] < lengths[:, None]
        a = F.softmax(e.masked_fill(~keep, -1e9), dim=-1)
        return a, (a.unsqueeze(-1) * memory).sum(1)


B, T, ENC, DEC = 14, 260, 96, 130


def get_inputs():
    prev = torch.softmax(torch.randn(B, T), -1)
    return [torch.randn(B, DEC), torch.randn(B, T, ENC), prev, torch.randint(100, T, (B,))]


def get_init_inputs():
    return [ENC, DEC, 80, 10, 31]
