import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, query_pre_attn_scalar, softcap=None):
        super().__init__()
        self.scaling = query_pre_attn_scalar**-0.5
        self.attn_logit_softcapping = softcap

    def forward(self, query, key, value, mask=None):
        w = torch.matmul(query, key.transpose(2, 3)) * self.scaling
        if self.attn_logit_softcapping is not None:
            w = w / self.attn_logit_softcapping
            w = torch.tanh(w)
            w = w * self.attn_logit_softcapping
        if mask is not None:
            w = w + mask
        w = nn.functional.softmax(w, dim=-1, dtype=torch.float32).to(query.dtype)
        return torch.matmul(w, value), w


def get_inputs():
    q = torch.randn(2, 4, 144, 72).bfloat16()
    k = torch.randn(2, 4, 180, 72).bfloat16()
    v = torch.randn(2, 4, 180, 72).bfloat16()
    return [q, k, v]


def get_init_inputs():
    return [72, 50.0]
