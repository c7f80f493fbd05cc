import torch
import torch.nn as nn


class Model(nn.Module):
    """Transducer joint network over the full T x U lattice."""

    def __init__(self, enc_dim, pred_dim, joint_dim, vocab):
        super().__init__()
        self.lin_enc = nn.Linear(enc_dim, joint_dim)
        self.lin_dec = nn.Linear(pred_dim, joint_dim, bias=False)
        self.lin_out = nn.Linear(joint_dim, vocab)

    def forward(self, h_enc, h_dec):
        z = torch.tanh(self.lin_enc(h_enc).unsqueeze(2) + self.lin_dec(h_dec).unsqueeze(1))
        return nn.functional.log_softmax(self.lin_out(z), dim=-1)


def get_inputs():
    return [torch.randn(2, 60, 256), torch.randn(2, 24, 200)]


def get_init_inputs():
    return [256, 200, 320, 500]
