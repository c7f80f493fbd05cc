import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Exponential-gate LSTM step with a stabiliser state."""

    def forward(self, pre, c, n, m):
        i, f, z, o = pre.chunk(4, dim=-1)
        log_f = F.logsigmoid(f)
        m_new = torch.maximum(log_f + m, i)
        i_ = torch.exp(i - m_new)
        f_ = torch.exp(log_f + m - m_new)
        c_new = f_ * c + i_ * torch.tanh(z)
        n_new = f_ * n + i_
        h = torch.sigmoid(o) * (c_new / n_new.clamp(min=1e-6))
        return h, c_new, n_new, m_new


def get_inputs():
    b, d = 410, 376
    return [torch.randn(b, 4 * d), torch.randn(b, d), torch.rand(b, d) + 1.0, torch.randn(b, d)]


def get_init_inputs():
    return []
