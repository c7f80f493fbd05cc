import torch
import torch.nn as nn


def rel_shift(x):
    b, h, t1, t2 = x.size()
    zero_pad = torch.zeros((b, h, t1, 1), device=x.device, dtype=x.dtype)
    x_padded = torch.cat([zero_pad, x], dim=-1).view(b, h, t2 + 1, t1)
    x = x_padded[:, :, 1:].view_as(x)
    return x[:, :, :, : t2 // 2 + 1]


class Model(nn.Module):
    """Relative-position scores of ESPnet's conformer: content and position parts with own biases."""

    def __init__(self, heads, d_k):
        super().__init__()
        self.pos_bias_u = nn.Parameter(torch.randn(heads, d_k) * 0.1)
        self.pos_bias_v = nn.Parameter(torch.randn(heads, d_k) * 0.1)
        self.d_k = d_k

    def forward(self, q, k, p):
        # q, k: (B, T, H, D); p: (1, 2T-1, H, D)
        q_u = (q + self.pos_bias_u).transpose(1, 2)
        q_v = (q + self.pos_bias_v).transpose(1, 2)
        matrix_ac = torch.matmul(q_u, k.permute(0, 2, 3, 1))
        matrix_bd = rel_shift(torch.matmul(q_v, p.permute(0, 2, 3, 1)))
        return torch.softmax((matrix_ac + matrix_bd) / self.d_k**0.5, dim=-1)


def get_inputs():
    return [torch.randn(4, 160, 4, 36), torch.randn(4, 160, 4, 36), torch.randn(1, 319, 4, 36)]


def get_init_inputs():
    return [4, 36]
