import torch
import torch.nn as nn


class Model(nn.Module):
    """InferSent-like: sentence vectors by the maximum over a BiLSTM; pair features u, v, |u-v|, u*v."""

    def __init__(self, d, h, n):
        super().__init__()
        self.enc_lstm = nn.LSTM(d, h, 1, bidirectional=True)
        self.classifier = nn.Linear(8 * h, n)

    def encode(self, s):
        out, _ = self.enc_lstm(s)
        return torch.max(out, 0)[0]

    def forward(self, s1, s2):
        u, v = self.encode(s1), self.encode(s2)
        features = torch.cat((u, v, torch.abs(u - v), u * v), 1)
        return self.classifier(features)


def get_inputs():
    return [torch.randn(12, 32, 64), torch.randn(12, 32, 64)]


def get_init_inputs():
    return [64, 48, 3]
