import torch
import torch.nn as nn


class Model(nn.Module):
    """Instance normalisation, end padding, overlapping patches cut with index arithmetic, value + position embedding."""

    def __init__(self, seq_len, patch_len, stride, d_model):
        super().__init__()
        self.stride = stride
        n = (seq_len + stride - patch_len) // stride + 1
        idx = torch.arange(n)[:, None] * stride + torch.arange(patch_len)[None, :]
        self.register_buffer("idx", idx)
        self.W_P = nn.Linear(patch_len, d_model, bias=False)
        self.W_pos = nn.Parameter(torch.empty(n, d_model).uniform_(-0.02, 0.02))

    def forward(self, x_enc):
        means = x_enc.mean(1, keepdim=True)
        x = x_enc - means
        stdev = torch.sqrt(torch.var(x, dim=1, keepdim=True, unbiased=False) + 1e-5)
        x = (x / stdev).permute(0, 2, 1)
        x = nn.functional.pad(x, (0, self.stride), mode="replicate")
        patches = x[:, :, self.idx]  # [bs, nvars, patch_num, patch_len]
        return self.W_P(patches) + self.W_pos, means, stdev


def get_inputs():
    return [torch.randn(16, 336, 21)]


def get_init_inputs():
    return [336, 16, 8, 128]
