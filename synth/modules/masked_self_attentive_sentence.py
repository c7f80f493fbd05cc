import torch
import torch.nn as nn


class Model(nn.Module):
    """Structured self-attentive sentence embedding with several hops and padding mask."""

    def __init__(self, d, da, hops):
        super(Model, self).__init__()
        self.ws1 = nn.Linear(d, da, bias=False)
        self.ws2 = nn.Linear(da, hops, bias=False)

    def forward(self, H, pad_mask):
        scores = self.ws2(torch.tanh(self.ws1(H))).transpose(1, 2)
        scores = scores.masked_fill(pad_mask[:, None, :], -1e4)
        A = scores.softmax(-1)
        M = A.bmm(H)
        eye = torch.eye(A.size(1), device=A.device)
        penalty = (A.bmm(A.transpose(1, 2)) - eye).pow(2).sum(dim=(1, 2))
        return M.flatten(1), penalty


def get_inputs():
    lengths = torch.randint(10, 60, (40, 1))
    return [torch.randn(40, 60, 200), torch.arange(60)[None, :] >= lengths]


def get_init_inputs():
    return [200, 100, 4]
