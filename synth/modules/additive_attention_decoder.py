import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, enc_dim, dec_dim, att_dim):
        super().__init__()
        self.W = nn.Linear(enc_dim, att_dim, bias=False)
        self.U = nn.Linear(dec_dim, att_dim)
        self.v = nn.Linear(att_dim, 1, bias=False)

    def forward(self, encoder_out, decoder_state, mask):
        e = self.v(torch.tanh(self.W(encoder_out) + self.U(decoder_state)[:, None, :])).squeeze(2)
        e = e + (1.0 - mask) * -1e4
        alpha = e.softmax(dim=1)
        context = torch.bmm(alpha.unsqueeze(1), encoder_out).squeeze(1)
        return torch.cat([context, decoder_state], dim=-1), alpha


def get_inputs():
    mask = torch.ones(32, 170)
    mask[::3, 120:] = 0
    return [torch.randn(32, 170, 220), torch.randn(32, 140), mask]


def get_init_inputs():
    return [220, 140, 96]
