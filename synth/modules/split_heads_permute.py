import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_head: int):
        super().__init__()
        self.n_head = n_head

    def forward(self, qkv):
        B, T, C3 = qkv.size()
        C = C3 // 3
        q, k, v = qkv.split(C, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        return q.contiguous(), k.contiguous(), v.contiguous()


def get_inputs():
    return [torch.randn(4, 150, 3 * 288)]


def get_init_inputs():
    return [6]
