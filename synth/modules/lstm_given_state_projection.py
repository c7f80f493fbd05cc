import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hid)
        self.decoder = nn.Linear(hid, vocab)

    def forward(self, ids, h0, c0):
        e = self.embed(ids)                       # T, B, E
        y, (hn, cn) = self.rnn(e, (h0, c0))
        return self.decoder(y), hn, cn


T, B, HID = 12, 32, 96

def get_inputs():
    return [torch.randint(0, 1000, (T, B)), torch.zeros(1, B, HID), torch.zeros(1, B, HID)]

def get_init_inputs():
    return [1000, 64, HID]
