import torch
import torch.nn as nn


def apply_rotary(xq_r, xq_i, freqs_cos, freqs_sin):
    # (a + ib)(c + id)
    return xq_r * freqs_cos - xq_i * freqs_sin, xq_r * freqs_sin + xq_i * freqs_cos


class Model(nn.Module):
    """llama2.c way: freqs given from outside, real and imaginary parts kept apart, bf16 in and out."""

    def __init__(self):
        super().__init__()

    def forward(self, xq, freqs_cos, freqs_sin):
        xq_r, xq_i = xq.float().reshape(xq.shape[:-1] + (-1, 2)).unbind(-1)
        shape = [d if i == 1 or i == 3 else 1 for i, d in enumerate(xq_r.shape)]
        out_r, out_i = apply_rotary(xq_r, xq_i, freqs_cos.view(shape), freqs_sin.view(shape))
        xq_out = torch.stack([out_r, out_i], dim=-1).flatten(3)
        return xq_out.type_as(xq)


def get_inputs():
    angle = torch.outer(torch.arange(256).float(), 10000.0 ** (-torch.arange(24).float() / 24))
    return [torch.randn(4, 256, 6, 48).bfloat16(), angle.cos(), angle.sin()]


def get_init_inputs():
    return []
