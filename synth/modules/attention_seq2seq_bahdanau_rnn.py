import torch
import torch.nn as nn


class Model(nn.Module):
    # additive attention over encoder states, context joined with the word, GRU cell
    def __init__(self, emb, hid):
        super().__init__()
        self.Wa = nn.Linear(hid, hid)
        self.Ua = nn.Linear(hid, hid)
        self.Va = nn.Linear(hid, 1)
        self.cell = nn.GRUCell(emb + hid, hid)

    def forward(self, word, hidden, keys):
        scores = self.Va(torch.tanh(self.Wa(hidden).unsqueeze(1) + self.Ua(keys)))
        weights = torch.softmax(scores.squeeze(2), dim=-1)
        context = torch.bmm(weights.unsqueeze(1), keys).squeeze(1)
        hidden = self.cell(torch.cat((word, context), dim=-1), hidden)
        return hidden, weights


def get_inputs():
    return [torch.randn(128, 64), torch.randn(128, 128), torch.randn(128, 50, 128)]


def get_init_inputs():
    return [64, 128]
