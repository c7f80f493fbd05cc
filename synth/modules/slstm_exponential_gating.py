import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """sLSTM cell of xLSTM: exponential input gate with a stabiliser state m and a normaliser n."""

    def __init__(self, d):
        super().__init__()
        self.W = nn.Linear(d, 4 * d)
        self.R = nn.Linear(d, 4 * d, bias=False)

    def forward(self, x, h, c, n, m):
        z, i, f, o = (self.W(x) + self.R(h)).chunk(4, dim=-1)
        log_f = F.logsigmoid(f)
        m_new = torch.maximum(log_f + m, i)
        i_s = torch.exp(i - m_new)
        f_s = torch.exp(log_f + m - m_new)
        c = f_s * c + i_s * torch.tanh(z)
        n = f_s * n + i_s
        h = torch.sigmoid(o) * c / n
        return h, c, n, m_new


def get_inputs():
    B, D = 256, 256
    return [torch.randn(B, D), torch.randn(B, D), torch.randn(B, D), torch.rand(B, D) + 1, torch.zeros(B, D)]


def get_init_inputs():
    return [256]
